import { normalizeUrl, oneLine } from "../../sdk/traffic-policy/index";
import type { Log } from "../service/client";
import type { LiveEndpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { CLOUD } from "../service/list";
import { changesBetween } from "./documents";
import {
  adoptNotFound,
  adoptOtherScheme,
  adoptsOneOf,
  consentDiffers,
  equalMember,
  wrongType,
} from "./errors";
import { documentsAsData, type Inputs, type ManagedInput, type PreviewInputs } from "./fields";
import type { Holdings } from "./holdings";
import { ifAbsent, look } from "./live";
import { shownPath, shownUrl } from "./secrets";
import { difference, type Entry, refreshedFromLive, wireFromInputs } from "./state";
import { unreadable, type Write } from "./verify";

/*
 * The live endpoint that a new resource takes over, and what that changes. Consent comes from the program (`adopt`), or for one
 * run of one stack from the environment (`ENDPOINTS_ADOPT`). Nothing else is taken over.
 */

/** A create or an update, with what it needs. A check has one too, whose inputs may be unknown in part. */
export interface Claim<Given extends PreviewInputs = Inputs> {
  api: EndpointsApi;
  inputs: Given;
  /** The URL for messages. */
  shownUrl: string;
  /** Project and stack for messages. */
  stack: string | undefined;
  entry: Entry;
  holdings: Holdings;
  /** The cloud endpoints that `ENDPOINTS_ADOPT` names. */
  consented(): Promise<LiveEndpoint[]>;
  log: Log;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string;
}

/** How many pages of the list are read for equal members of a pool, since an account may have thousands of endpoints. */
const NEWEST_PAGES = 10;

/**
 * Takes over the endpoint that the program or the environment names, and changes what differs from the program.
 *
 * @returns undefined if there is none, so that the create makes a new one.
 * @throws UserError if the endpoint cannot be adopted. Then no deletion of this run deletes it.
 */
export async function adopt(claim: Claim): Promise<Write | undefined> {
  const { api, inputs, holdings, entry } = claim;
  const id = inputs.adopt ?? (await chooseConsented(claim));
  // What this process found gone, or deleted for a replacement, is created anew.
  if (id === undefined || holdings.isGone(id)) return undefined;
  return holdings.takesOver(id, entry, async () => {
    const live = await findById(id, claim);
    holdings.add(id, entry, inputs);
    const { changed: sent, before } = differenceOnAdoption(live, inputs);
    const update = () => api.update(id, wireFromInputs(inputs, sent)).catch(unreadable);
    return { id, reply: sent.length === 0 ? live : await update(), sent, wanted: inputs, before };
  });
}

/** The endpoint of the environment that a create takes over. It is recorded at once, so that no other create chooses it. */
async function chooseConsented(claim: Claim): Promise<string | undefined> {
  const { inputs, holdings, entry } = claim;
  const [found] = await consentedOnUrl(claim);
  if (found) holdings.add(found.id, entry, inputs);
  return found?.id;
}

/** @throws UserError if there is no endpoint with this id, or if it is no cloud endpoint. */
async function findById(id: string, { api, inputs }: Claim<PreviewInputs>): Promise<LiveEndpoint> {
  const live = await look(api, id, inputs).catch(ifAbsent(adoptNotFound(id)));
  if (live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
  return live;
}

/**
 * The endpoints of `ENDPOINTS_ADOPT` that this resource may take over: on its URL, in no other entry of the state, and in a pool
 * only those that equal it. If there are only others, a warning names them.
 */
async function consentedOnUrl(claim: Claim<PreviewInputs>): Promise<LiveEndpoint[]> {
  const { inputs, holdings, log, shownUrl } = claim;
  const found = (await claim.consented()).filter(
    (live) => serves(live, inputs) && holdings.isFree(live.id, inputs),
  );
  // Members of a pool share their URL, so only their content shows whose they are.
  const isPooled = ({ poolingEnabled }: LiveEndpoint) => inputs.poolingEnabled === true || poolingEnabled;
  const usable = found.filter((live) => !isPooled(live) || isWanted(live, inputs));
  if (usable.length === 0 && found.length > 0)
    log.warn(
      consentDiffers(
        shownUrl,
        found.map((live) => `${live.id} in ${changesText(live, inputs)}`),
      ),
    );
  return usable;
}

/**
 * Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. Warns of what the
 * environment names, and of endpoints that may be this resource's.
 */
export async function announceAdoption(claim: Claim<PreviewInputs>): Promise<void> {
  const { inputs, shownUrl: url, holdings, entry, log } = claim;
  const { adopt } = inputs;
  const announce = (live: LiveEndpoint): string => {
    holdings.willAdopt(live.id, inputs);
    const changes = changesText(live, inputs);
    return `${url}: adopts ${live.id} ${changes === "" ? "as it is" : `and changes ${changes}`}`;
  };
  if (adopt !== undefined)
    return holdings.takesOver(adopt, entry, async () => log.info(announce(await findById(adopt, claim))));

  const [live, ...others] = (await consentedOnUrl(claim)).filter(({ id }) => holdings.isUnpromised(id));
  if (live && others.length > 0) return log.warn(adoptsOneOf(url, [live, ...others]));
  if (live) return log.warn(`${announce(live)} (ENDPOINTS_ADOPT)`);
  for (const member of await equalMembers(claim)) log.warn(equalMember(member, url));
}

/**
 * The members of a pool that equal the endpoint to be created, and that this run has not met in the state. The service accepts any
 * number of members, so no refusal would reveal what a killed run or a lost state left. This warns, and decides nothing.
 */
export async function equalMembers({ api, inputs, holdings }: Claim<PreviewInputs>): Promise<LiveEndpoint[]> {
  if (inputs.poolingEnabled !== true) return [];
  const listed = await api.list.select(CLOUD, "anyAge", NEWEST_PAGES).catch(() => []);
  const isStray = ({ id }: LiveEndpoint) => !holdings.isOurs(id) && holdings.isUnpromised(id);
  return listed.filter((live) => serves(live, inputs) && isStray(live) && isWanted(live, inputs));
}

/** The places that an adoption changes; empty if there are none. */
function changesText(live: LiveEndpoint, inputs: PreviewInputs): string {
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed.flatMap((name) => changesBetween(before[name], inputs[name], [name]));
  return oneLine(places.map(({ path }) => shownPath(path, inputs)).join(", "), 300);
}

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
const serves = (live: LiveEndpoint, inputs: PreviewInputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
