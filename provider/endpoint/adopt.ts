import { normalizeUrl, oneLine } from "../../sdk/traffic-policy/data/index";
import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { CLOUD_ENDPOINTS } from "../service/list";
import { changesBetween } from "./documents";
import {
  adoptNotFound,
  adoptOtherScheme,
  adoptsOneOf,
  consentDiffers,
  equalMemberExists,
  wrongType,
} from "./errors";
import {
  clearedInputs,
  documentsAsData,
  type Inputs,
  type ManagedInput,
  managedInputs,
  type PreviewInputs,
} from "./fields";
import { ifService404, readUnknownEndpoint } from "./readEndpoint";
import type { RunRecord } from "./runRecord";
import { displayPath, displayUrl } from "./secrets";
import { difference, type EntryIdentity, refreshedFromLive, wireFromInputs } from "./state";
import { type AcceptedWrite, asUnreadableReply } from "./verify";

/*
 * Adoption: a new resource takes over a live endpoint, and changes what differs. The user consents in the program (`adopt`), or for
 * one run of one stack in the environment (`ENDPOINTS_ADOPT`). Without consent, nothing is adopted.
 */

/** What a create or an update needs. A check has a context too, in which inputs may be unknown. */
export interface WriteContext<T extends PreviewInputs = Inputs> {
  api: EndpointsApi;
  inputs: T;
  /** The URL for messages. */
  displayUrl: string;
  /** Project and stack for messages. */
  stack: string | undefined;
  entry: EntryIdentity;
  runRecord: RunRecord;
  /** The cloud endpoints that `ENDPOINTS_ADOPT` names. */
  consented(): Promise<Endpoint[]>;
  log: Log;
  /** The id of the endpoint that an update changes; undefined for a create. */
  updatedId?: string;
}

/** The most pages that a search for equal members of a pool reads, because an account may have thousands of endpoints. */
const MAX_POOL_PAGES = 10;

/**
 * Adopts the endpoint that the program or the environment names, and changes what differs from the program.
 *
 * @returns undefined if they name none, so that the create makes a new endpoint.
 * @throws UserError if the endpoint cannot be adopted. Then no deletion of this run deletes it.
 */
export async function adopt(context: WriteContext): Promise<AcceptedWrite | undefined> {
  const { api, inputs, runRecord, entry } = context;
  const id = inputs.adopt ?? (await chooseConsented(context));
  // This process found the endpoint gone, or deleted it for a replacement. So the create makes a new one.
  if (id === undefined || runRecord.isGone(id)) return undefined;
  return runRecord.trackAdoption(id, entry, async () => {
    const live = await findById(id, context);
    runRecord.recordNewEntry(id, entry, inputs);
    const { changed: sent, before } = differenceOnAdoption(live, inputs);
    const update = () => api.update(id, wireFromInputs(inputs, sent)).catch(asUnreadableReply);
    return { id, reply: sent.length === 0 ? live : await update(), sent, wanted: inputs, before };
  });
}

/** Chooses the endpoint of `ENDPOINTS_ADOPT` for a create. */
async function chooseConsented(context: WriteContext): Promise<string | undefined> {
  const { inputs, runRecord, entry } = context;
  const all = await context.consented();
  // No `await` between choice and record, so that no other create chooses the same endpoint.
  const [found] = findConsented(all, context);
  if (found) runRecord.recordNewEntry(found.id, entry, inputs);
  return found?.id;
}

/** @throws UserError if there is no endpoint with this id, or if it is no cloud endpoint. */
async function findById(id: string, { api, inputs }: WriteContext<PreviewInputs>): Promise<Endpoint> {
  // An adoption changes what the program sets, and clears the description and metadata that it leaves out.
  const compared = managedInputs.filter((name) => inputs[name] !== undefined || clearedInputs.includes(name));
  const live = await readUnknownEndpoint(api, id, compared).catch(ifService404(adoptNotFound(id)));
  if (live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
  return live;
}

/**
 * The endpoints of `ENDPOINTS_ADOPT` that this resource may adopt: those on its URL that no other entry of the state has. In a pool
 * they must also equal the resource. If all of them differ, a warning names them.
 */
function findConsented(
  all: Endpoint[],
  { inputs, runRecord, log, displayUrl }: WriteContext<PreviewInputs>,
): Endpoint[] {
  const found = all.filter((live) => hasUrlOf(live, inputs) && runRecord.canAdopt(live.id, inputs));
  // Members of a pool share their URL, so only the content tells which resource a member belongs to.
  const isPooled = ({ poolingEnabled }: Endpoint) => inputs.poolingEnabled === true || poolingEnabled;
  const usable = found.filter((live) => !isPooled(live) || matchesInputs(live, inputs));
  if (usable.length === 0 && found.length > 0)
    log.warn(
      consentDiffers(
        displayUrl,
        found.map((live) => `${live.id} in ${changesText(live, inputs)}`),
      ),
    );
  return usable;
}

/**
 * Logs at the preview what the create will adopt and change, because the engine can only show "create". Omits values, which may be
 * secret. Warns of an adoption by `ENDPOINTS_ADOPT`, and of equal members of the pool.
 */
export async function logPlannedAdoption(context: WriteContext<PreviewInputs>): Promise<void> {
  const { inputs, displayUrl: url, runRecord, entry, log } = context;
  const { adopt } = inputs;
  const announce = (live: Endpoint): string => {
    runRecord.recordPlannedAdoption(live.id, inputs);
    const changes = changesText(live, inputs);
    return `${url}: adopts ${live.id} ${changes === "" ? "as it is" : `and changes ${changes}`}`;
  };
  if (adopt !== undefined)
    return runRecord.trackAdoption(adopt, entry, async () =>
      log.info(announce(await findById(adopt, context))),
    );

  const consented = findConsented(await context.consented(), context);
  const [live, ...others] = consented.filter(({ id }) => !runRecord.hasPlannedAdoption(id));
  if (live && others.length > 0) return log.warn(adoptsOneOf(url, [live, ...others]));
  if (live) return log.warn(`${announce(live)} (ENDPOINTS_ADOPT)`);
  for (const member of await findEqualMembers(context)) log.warn(equalMemberExists(member, url));
}

/**
 * The members of a pool that equal the endpoint to be created, and that this run has not met in the state. The service accepts any
 * number of members, so no refusal would reveal what a killed run or a lost state left. The result is only used for warnings.
 */
export async function findEqualMembers({
  api,
  inputs,
  runRecord,
}: WriteContext<PreviewInputs>): Promise<Endpoint[]> {
  if (inputs.poolingEnabled !== true) return [];
  const listed = await api.list.select(CLOUD_ENDPOINTS, "cached", MAX_POOL_PAGES).catch(() => []);
  const isStray = ({ id }: Endpoint) => !runRecord.wasMetInState(id) && !runRecord.hasPlannedAdoption(id);
  return listed.filter((live) => hasUrlOf(live, inputs) && isStray(live) && matchesInputs(live, inputs));
}

/** The places that an adoption changes; empty if there are none. */
function changesText(live: Endpoint, inputs: PreviewInputs): string {
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed.flatMap((name) => changesBetween(before[name], inputs[name], [name]));
  return oneLine(places.map(({ path }) => displayPath(path, inputs)).join(", "), 300);
}

/** @throws UserError if the endpoint has another scheme than the program's URL, which cannot change in place. */
export function differenceOnAdoption(
  live: Endpoint,
  inputs: PreviewInputs,
): { changed: ManagedInput[]; before: Record<string, unknown> } {
  const before = documentsAsData(refreshedFromLive(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw adoptOtherScheme(live.id, displayUrl({ ...inputs, url: live.url ?? "" }), displayUrl(inputs));
  return { changed, before };
}

/** Whether this is a cloud endpoint with exactly these inputs. */
export const matchesInputs = (live: Endpoint, inputs: PreviewInputs): boolean =>
  hasUrlOf(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

/** Whether this is a cloud endpoint with the program's URL. */
const hasUrlOf = (live: Endpoint, inputs: PreviewInputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
