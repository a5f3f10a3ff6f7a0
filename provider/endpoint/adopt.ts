import { normalizeUrl, oneLine } from "../../sdk/traffic-policy/index";
import { isAbsent } from "../service/apiErrors";
import type { Log } from "../service/client";
import type { LiveEndpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { EVERYTHING } from "../service/list";
import { changesBetween } from "./documents";
import { adoptAmbiguous, adoptNotFound, adoptOtherScheme, wrongType } from "./errors";
import { documentsAsData, type Inputs, type ManagedInput, type PreviewInputs } from "./fields";
import type { Holdings } from "./holdings";
import { look } from "./live";
import { shownPath, shownUrl } from "./secrets";
import { difference, type Entry, refreshedFromLive, wireFromInputs } from "./state";
import { unreadable, type Write } from "./verify";

/*
 * The live endpoint that a new resource takes over, and what that changes. Consent comes from the program (`adopt`), or for one
 * run from the environment (`ENDPOINTS_ADOPT`). Nothing else is taken over.
 */

/** A create or an update, with what it needs. A check has one too, whose inputs may be unknown in part. */
export interface Claim<Given extends PreviewInputs = Inputs> {
  api: EndpointsApi;
  inputs: Given;
  /** The URL for messages. */
  shownUrl: string;
  entry: Entry;
  holdings: Holdings;
  /** The cloud endpoints that `ENDPOINTS_ADOPT` names. */
  consented(): Promise<LiveEndpoint[]>;
  log: Log;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string;
}

/**
 * Takes over the endpoint that the program or the environment names, and changes what differs from the program.
 *
 * @returns undefined if there is none, so that the create makes a new one.
 * @throws UserError if `adopt` names an endpoint that cannot be adopted. Then no deletion of this run deletes it.
 */
export const adopt = (claim: Claim): Promise<Write | undefined> =>
  takingOver(claim, async () => {
    const { api, inputs, holdings, entry } = claim;
    const live = await findAdoptable(claim);
    if (!live) return undefined;
    const { id } = live;
    holdings.add(id, entry, inputs);
    const { changed: sent, before } = differenceOnAdoption(live, inputs);
    const update = () => api.update(id, wireFromInputs(inputs, sent)).catch(unreadable);
    return { id, reply: sent.length === 0 ? live : await update(), sent, wanted: inputs, before };
  });

const takingOver = <T>(
  { inputs, holdings, entry }: Claim<PreviewInputs>,
  work: () => Promise<T>,
): Promise<T> =>
  holdings.takesOver(typeof inputs.adopt === "string" ? inputs.adopt : inputs.url, entry, work);

/**
 * The live endpoint that a create takes over, if any. An id that this process found gone, or deleted for a replacement, is created
 * anew.
 */
async function findAdoptable(claim: Claim<PreviewInputs>): Promise<LiveEndpoint | undefined> {
  const { api, inputs, holdings, entry } = claim;
  const { adopt } = inputs;
  if (typeof adopt === "string") return holdings.isGone(adopt) ? undefined : findById(adopt, claim);
  if (adopt) return findByUrl(claim);
  const found = chooseConsented(await claim.consented(), claim);
  if (!found) return undefined;
  // At once, so that no other create chooses the same one.
  holdings.add(found.id, entry, inputs);
  return look(api, found.id, inputs);
}

async function findById(
  id: string,
  { api, inputs, holdings }: Claim<PreviewInputs>,
): Promise<LiveEndpoint | undefined> {
  const live = await look(api, id, inputs).catch((error: unknown): undefined => {
    if (!isAbsent(error)) throw error;
    if (!holdings.isItsOwn(id, inputs)) throw adoptNotFound(id);
  });
  if (live && live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
  return live;
}

async function findByUrl({ api, inputs, shownUrl }: Claim<PreviewInputs>): Promise<LiveEndpoint | undefined> {
  // A conflict finds what is newer.
  let listed = await api.list.onUrl(inputs.url, "anyAge");
  // A filter proves no absence, and the service would accept one more member.
  if (inputs.poolingEnabled && !listed.some((live) => serves(live, inputs)))
    listed = await api.list.select(EVERYTHING, "fromNow");
  const found = listed.filter((live) => serves(live, inputs));
  const [first] = found;
  // The list may be out of date.
  const live = first && (await api.find(first.id));
  // For the same reason, the only member of a pool that it shows may be another stack's.
  if (found.length > 1 || live?.poolingEnabled) throw adoptAmbiguous(shownUrl, found);
  return live && serves(live, inputs) ? live : undefined;
}

/** The endpoint of `ENDPOINTS_ADOPT` that serves the URL. In a pool, one that equals the program's comes first. */
function chooseConsented(
  all: LiveEndpoint[],
  { inputs, holdings }: Claim<PreviewInputs>,
  isChoice = (_: string): boolean => true,
): LiveEndpoint | undefined {
  const found = all.filter(
    (live) => serves(live, inputs) && holdings.isFree(live.id, inputs) && isChoice(live.id),
  );
  return found.find((live) => isWanted(live, inputs)) ?? found[0];
}

/**
 * Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. What is adopted
 * without its id in the program is a warning.
 */
export const announceAdoption = (claim: Claim<PreviewInputs>): Promise<void> =>
  takingOver(claim, async () => {
    const { inputs, shownUrl: url, holdings, log } = claim;
    const { adopt } = inputs;
    const live = adopt
      ? await findAdoptable(claim)
      : chooseConsented(await claim.consented(), claim, holdings.isUnpromised);
    if (!live && adopt) log.info(`${url}: there is no cloud endpoint to adopt, so one is created`);
    if (!live) return;
    holdings.willAdopt(live.id, inputs);
    const { changed, before } = differenceOnAdoption(live, inputs);
    const places = changed
      .flatMap((name) => changesBetween(before[name], inputs[name], [name]))
      .map(({ path }) => shownPath(path, inputs));
    const changes = places.length === 0 ? "as it is" : `and changes ${oneLine(places.join(", "), 300)}`;
    if (typeof adopt === "string") return log.info(`${url}: adopts ${live.id} ${changes}`);
    const consent = adopt ? "adopt: true, whoever made it" : "ENDPOINTS_ADOPT";
    log.warn(`${url}: adopts ${live.id} (${consent}) ${changes}`);
  });

/** @throws UserError if the endpoint has another scheme than the program's URL, which cannot change in place. */
export function differenceOnAdoption(
  live: LiveEndpoint,
  inputs: PreviewInputs,
): { changed: ManagedInput[]; before: Record<string, unknown> } {
  const before = documentsAsData(refreshedFromLive(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw adoptOtherScheme(live.id, shownUrl({ ...inputs, url: live.url ?? "" }), shownUrl(inputs));
  return { changed, before };
}

/** Whether this is a cloud endpoint with exactly these inputs. */
export const isWanted = (live: LiveEndpoint, inputs: PreviewInputs): boolean =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

/** Whether this is a cloud endpoint with the program's URL. */
export const serves = (live: LiveEndpoint, inputs: PreviewInputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
