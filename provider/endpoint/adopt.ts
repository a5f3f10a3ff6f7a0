import type { LiveEndpoint } from "../api/contract";
import { isMapping } from "../api/json";
import { OLDEST_LISTING } from "../api/list";
import { isProven, isSameOwner, MARK_FIELD, ownMark } from "../api/mark";
import { oneLine } from "../api/text";
import { normalizeUrl } from "../api/url";
import { changesBetween, metadataFromText } from "./documents";
import {
  adoptAmbiguous,
  adoptNotFound,
  adoptOtherScheme,
  carriesMark,
  managedElsewhere,
  wrongType,
} from "./errors";
import { documentsAsData, type Inputs, type ManagedInput } from "./fields";
import { LIST_LAG } from "./gone";
import { ifAbsent, look } from "./live";
import { type Claim, markOf, otherStack } from "./owners";
import { shownPath, shownUrl } from "./secrets";
import { difference, refreshedFromLive, wireFromInputs } from "./state";

/* The live endpoint that a new resource takes over, by `adopt` or by its mark, and what that changes. */

/**
 * The live endpoint that `adopt` names; undefined if no cloud endpoint has the URL. An id that this process found gone, or
 * deleted for a replacement, is created anew.
 *
 * @throws UserError if `adopt: true` finds an endpoint with another stack's mark. Its id is the consent.
 */
export async function findAdoptable(claim: Claim): Promise<LiveEndpoint | undefined> {
  const { api, inputs, owner, owners } = claim;
  const { adopt } = inputs;
  if (!adopt || owners.fates.get(String(adopt)) === "gone") return undefined;
  if (typeof adopt === "string") {
    const live = await look(api, adopt, inputs).catch(ifAbsent(adoptNotFound(adopt)));
    if (live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
    return live;
  }
  const live = await findByUrl(claim);
  const theirs = live && otherStack(live, owner);
  if (theirs) throw managedElsewhere(live.id, theirs);
  return live;
}

async function findByUrl({ api, inputs, shownUrl }: Claim): Promise<LiveEndpoint | undefined> {
  const now = api.http.clock.now();
  // A conflict finds what is newer.
  let listed = await api.list.onUrl(inputs.url, now - OLDEST_LISTING);
  // A filter proves no absence, and the service would accept one more member.
  if (inputs.poolingEnabled && !listed.some((live) => serves(live, inputs)))
    listed = await api.list.all(now - LIST_LAG);
  const found = listed.filter((live) => serves(live, inputs));
  const [first] = found;
  // The list may be out of date, and may omit metadata, which holds the mark of another stack.
  const live = first && (await api.find(first.id));
  // For the same reason, the only member of a pool that it shows may be another stack's.
  if (found.length > 1 || live?.poolingEnabled) throw adoptAmbiguous(shownUrl, found);
  return live && serves(live, inputs) ? live : undefined;
}

/** Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. */
export async function announceAdoption(claim: Claim): Promise<void> {
  const { inputs, shownUrl: url, owner, owners, log } = claim;
  const live = await findAdoptable(claim);
  if (!live) return log.info(`${url}: there is no cloud endpoint to adopt, so one is created`);
  owners.willAdopt(live.id);
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed
    .flatMap((name) => changesBetween(before[name], inputs[name], [name]))
    .map(({ path }) => shownPath(path, inputs));
  if (live.createdFor) places.push("its mark");
  const changes = places.length === 0 ? "as it is" : `and changes ${oneLine(places.join(", "), 300)}`;
  const theirs = otherStack(live, owner);
  log.info(`${url}: adopts ${live.id}${theirs ? `, ${carriesMark(theirs)},` : ""} ${changes}`);
}

/** Makes a live endpoint this resource's, and changes what differs from the program. */
export async function takeOver(live: LiveEndpoint, claim: Claim): Promise<LiveEndpoint> {
  const { api, inputs, owners, entry } = claim;
  owners.add(live.id, entry);
  const sent = new Set<ManagedInput>();
  try {
    for (const name of differenceOnAdoption(live, inputs).changed) sent.add(name);
    // A new mark tells the other entries with this endpoint, in any process, that it is this resource's now. A stack without
    // marks removes the old one, which would name the wrong owner.
    if (live.createdFor) sent.add("metadata");
    if (sent.size === 0) return live;
    const mark = sent.has("metadata") ? markOf(claim, live.createdAt) : undefined;
    return await api.update(live.id, wireFromInputs(inputs, [...sent], mark));
  } catch (error) {
    owners.fail(live.id, entry);
    throw error;
  }
}

/**
 * What an earlier run left in a pool. The service accepts any number of members, so no refusal would reveal it.
 *
 * @throws UserError if there are several, or if one may be another's.
 */
export async function leftoverInPool(claim: Claim): Promise<LiveEndpoint | undefined> {
  const { api, inputs, shownUrl, owner, owners } = claim;
  if (!owner || inputs.poolingEnabled !== true) return undefined;
  const found: LiveEndpoint[] = [];
  for (const item of await api.list.all(0)) {
    if (!serves(item, inputs) || owners.knows(item.id)) continue;
    // A list may omit metadata, which holds the mark.
    const isAnothers = item.createdFor ? !isSameOwner(item.createdFor, owner) : item.metadata !== undefined;
    const live = isAnothers ? undefined : await api.find(item.id);
    if (live && isSameOwner(ownMark(live), owner)) found.push(live);
  }
  const [first] = found;
  if (found.length > 1 || (first && !isProven(first))) throw adoptAmbiguous(shownUrl, found);
  return first;
}

/** Takes over what an earlier run of this stack created for this resource. */
export function takeOverLeftover(live: LiveEndpoint, claim: Claim): Promise<LiveEndpoint> {
  // The other provider, or a run with --target, does not meet an entry that has left this name. No run meets those of a stack
  // that has left its name.
  claim.log.warn(
    `${claim.shownUrl}: takes over ${live.id}, which an earlier run of this stack created (endpoints:mark). If a resource or a stack that was renamed from this name has it, run \`pulumi state delete\` for this resource now, before a run deletes the endpoint, and choose another name`,
  );
  return takeOver(live, claim);
}

/** @throws UserError if the endpoint has another scheme than the program's URL, which cannot change in place. */
export function differenceOnAdoption(live: LiveEndpoint, inputs: Inputs) {
  const before = documentsAsData(refreshedFromLive(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw adoptOtherScheme(live.id, shownUrl({ ...inputs, url: live.url ?? "" }), shownUrl(inputs));
  return { changed, before };
}

/** Whether this is a cloud endpoint with exactly these inputs. */
export const isWanted = (live: LiveEndpoint, inputs: Inputs): boolean =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

/** Whether this is a cloud endpoint with the program's URL. */
const serves = (live: LiveEndpoint, inputs: Inputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;

/** Why the endpoint's metadata cannot be a program's: the mark's key holds something that is no mark. */
export function reservedKeyProblem({ metadata }: LiveEndpoint): string | undefined {
  const { data } = metadataFromText(metadata ?? "");
  if (!isMapping(data) || !Object.hasOwn(data, MARK_FIELD)) return undefined;
  return `its metadata has the key ${MARK_FIELD}, which is reserved for marks (endpoints:mark), with something else; rename or remove that key on the service first`;
}
