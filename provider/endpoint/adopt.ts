import { normalizeUrl, oneLine } from "../data/index";
import type { Endpoint } from "../service/contract";
import { changesBetween } from "./documents";
import { adoptNeedsProgram, adoptNotFound, adoptOtherScheme, wrongType } from "./errors";
import { documentsAsData, type ManagedInput, type PreviewInputs } from "./fields";
import { ifService404, readEndpoint } from "./readEndpoint";
import { displayPath, displayUrl } from "./secrets";
import { difference, refreshedFromLive, wireFromInputs } from "./state";
import { asUnreadableReply } from "./verify";
import type { AcceptedWrite, WriteContext } from "./write";

/*
 * Adoption: a new resource takes over the live endpoint that `adopt` names, and changes what differs. For many endpoints at once,
 * the stack's configuration has their ids (`endpoints:adopt`), and the check writes the fitting one into `adopt`.
 */

/**
 * Claims an endpoint for a resource, and reads it.
 *
 * @throws UserError if another resource has the endpoint, or if there is none.
 */
export function claimed(id: string, { api, inputs, owners }: WriteContext<PreviewInputs>): Promise<Endpoint> {
  owners.claim(id, inputs);
  return readEndpoint(api, id, {}).catch(ifService404(adoptNotFound(id)));
}

/**
 * Adopts an endpoint, and changes what differs from the program.
 *
 * @throws UserError if the endpoint cannot be adopted. Then no deletion of this run deletes it.
 */
export async function adopt(id: string, context: WriteContext): Promise<AcceptedWrite> {
  const { api, inputs } = context;
  const live = await claimed(id, context);
  const sent = differenceOnAdoption(live, inputs);
  const update = () => api.update(id, wireFromInputs(inputs, sent)).catch(asUnreadableReply);
  return { id, reply: sent.length === 0 ? live : await update(), sent, wanted: inputs };
}

/**
 * Logs at the preview what the create will adopt and change, because the engine can only show "create". Omits values, which may be
 * secret.
 *
 * @param options Whether the stack's configuration has the id, which people copy with its file. Whether to warn: once is enough.
 */
export function logPlannedAdoption(
  live: Endpoint,
  { inputs, displayUrl: url, log }: WriteContext<PreviewInputs>,
  { isListed, warns }: { isListed: boolean; warns: boolean },
): void {
  const changed = differenceOnAdoption(live, inputs);
  const before = documentsAsData(refreshedFromLive(live, {}).props);
  const places = changed.flatMap((name) => changesBetween(before[name], inputs[name], [name]));
  const changes = oneLine(places.map(({ path }) => displayPath(path, inputs)).join(", "), 300);
  const plan = `${url}: adopts ${live.id} ${places.length === 0 ? "as it is" : `and changes ${changes}`}`;
  const message = `${plan}; nothing else may have it: another provider or stack that has it would delete it`;
  if (!warns) log.info(plan);
  else if (isListed)
    log.warn(
      `${message} (from endpoints:adopt; if the file of this stack was copied, run \`pulumi config rm endpoints:adopt\`)`,
    );
  else log.info(message);
}

/**
 * The endpoint of `endpoints:adopt` that a new resource takes over: the one with exactly its URL.
 *
 * @throws UserError for a member of the resource's pool. Members share their URL, so only the program's `adopt` can tell which member
 *   belongs to which resource.
 */
export function fittingEndpoint(
  listed: readonly (Endpoint | undefined)[],
  { inputs, owners, displayUrl }: WriteContext<PreviewInputs>,
): string | undefined {
  const fitting = listed
    .filter((live) => live !== undefined)
    .filter((live) => hasUrlOf(live, inputs) && owners.mayTake(live.id, inputs));
  const member = fitting.find(({ poolingEnabled }) => poolingEnabled === true);
  if (inputs.poolingEnabled === true && member) throw adoptNeedsProgram(member.id, displayUrl);
  if (inputs.poolingEnabled === true) return undefined;
  return fitting.find(({ poolingEnabled }) => poolingEnabled !== true)?.id;
}

/**
 * The inputs that an adoption changes.
 *
 * @throws UserError if it is no cloud endpoint, or has another scheme than the program's URL, which cannot change in place.
 */
export function differenceOnAdoption(live: Endpoint, inputs: PreviewInputs): ManagedInput[] {
  if (live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
  const { changed, replace } = difference(documentsAsData(refreshedFromLive(live, {}).props), inputs);
  if (replace)
    throw adoptOtherScheme(live.id, displayUrl({ ...inputs, url: live.url ?? "" }), displayUrl(inputs));
  return changed;
}

/** Whether this is a cloud endpoint with exactly these inputs. */
export const matchesInputs = (live: Endpoint, inputs: PreviewInputs): boolean =>
  hasUrlOf(live, inputs) && differenceOnAdoption(live, inputs).length === 0;

/** Whether this is a cloud endpoint with the program's URL. */
const hasUrlOf = (live: Endpoint, inputs: PreviewInputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
