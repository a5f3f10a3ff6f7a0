import { ApiError, EndpointsError } from "../api/apiErrors";
import type { Log } from "../api/client";
import { createdAt } from "../api/clock";
import type { LiveEndpoint, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import { isMapping } from "../api/json";
import { OLDEST_LISTING, type Reading } from "../api/list";
import { isSameOwner, isSameStack, MARK_FIELD, ownerAtCreate } from "../api/mark";
import { codeNumber } from "../api/remedies";
import type { Settings } from "../api/settings";
import { normalizeUrl, urlOf } from "../api/url";
import { changesBetween, metadataFromText } from "./documents";
import type { Entries } from "./entries";
import {
  adoptAmbiguous,
  adoptNotFound,
  adoptOtherScheme,
  severalLeftovers,
  urlLookup,
  urlTaken,
  wrongType,
} from "./errors";
import { type CloudEndpointInputs, withData } from "./fields";
import { LIST_LAG } from "./gone";
import { hasSecrets, shownPlace, shownUrl } from "./secrets";
import { difference, refreshed, withoutGaps } from "./state";

/*
 * The endpoints that a create or an update finds on its URL: another resource's, which may be leaving it, a stranger's, or one
 * that an earlier run of this stack left behind.
 */

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const PASSING: readonly unknown[] = [18006, 18009, 18016, 18017];

/** The waits before a request is sent again after a refusal that may pass, in milliseconds. */
const TRY_AGAIN_AFTER = [1_000, 2_000, 4_000];

/** Refusals that are unlikely to be about a URL share a reading of the list of at most this age, in milliseconds. */
const SHARED_FOR = 60_000;

/** After this time, nobody is expected to repair a killed run any more. In seconds. */
const REPAIRED_WITHIN = 3_600;

/** A create, or an update that changes the URL, and its dependencies. */
export interface Claim {
  api: EndpointsApi;
  settings: Settings;
  inputs: CloudEndpointInputs;
  /** With `endpoints:mark`, the resource. */
  owner: Owner | undefined;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string;
  entries: Entries;
  log: Log;
}

/** Whether the service refused the request. With any code, the reason may be a taken URL. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 409, 422].includes(error.status);

/** Whether a later try may succeed if no endpoint is found on the URL. */
const mayPass = (error: ApiError) => error.status === 409 || PASSING.includes(codeNumber(error));

/** Decides about the refusals of one claim. */
export class UrlConflict {
  private refused = 0;
  /** The endpoints that have left the URL. None is waited for twice. */
  private readonly left = new Set<string>();

  constructor(private readonly claim: Claim) {}

  /**
   * Returns when the request can be sent again: an endpoint has left the URL, or the refusal may pass.
   *
   * @returns A leftover to take over instead; undefined if there is none.
   * @throws The refusal, if nothing holds the URL; UserError that names the holder and the next steps.
   */
  async resolve(refusal: ApiError): Promise<LiveEndpoint | undefined> {
    const wait = mayPass(refusal) ? TRY_AGAIN_AFTER[this.refused] : undefined;
    const holders = await this.holders(refusal, { stays: wait === undefined && this.refused > 0 });
    if (holders.length > 0) return this.decide(refusal, holders);
    if (wait === undefined) throw refusal;
    this.refused++;
    await this.claim.api.http.clock.sleep(wait);
    return undefined;
  }

  /**
   * Decides about the endpoints that hold the URL.
   *
   * @returns A leftover to take over; undefined if one of them has left the URL.
   * @throws UserError that names the holder and the next steps.
   */
  async decide(failure: EndpointsError, holders: readonly LiveEndpoint[]): Promise<LiveEndpoint | undefined> {
    const { entries, mover } = this.claim;
    const isUnmet = ({ id }: LiveEndpoint) => !entries.accounts.has(id);
    const isOurs = (live: LiveEndpoint) =>
      isUnmet(live) && isSameOwner(ownerAtCreate(live), this.claim.owner);
    const leftover = mover === undefined ? holders.find(isOurs) : undefined;
    if (leftover) logTakeOver(this.claim, leftover);
    if (leftover) return leftover;
    for (const holder of holders) {
      if (!(await this.leaves(holder))) continue;
      this.left.add(holder.id);
      return undefined;
    }
    return this.refuse(failure, holders);
  }

  /** Looks for the endpoint that holds the URL. The service's reason does not matter. */
  private async holders(refusal: ApiError, { stays }: { stays: boolean }): Promise<LiveEndpoint[]> {
    const { api, inputs, entries, mover } = this.claim;
    // The list may show endpoints that were deleted or moved meanwhile. Members of a pool share a URL, so they do not hold it.
    const read = new Set<string>();
    const thatHold = async (listed: LiveEndpoint[]) => {
      const found: LiveEndpoint[] = [];
      for (const { id } of listed) {
        if (read.has(id) || id === mover) continue;
        read.add(id);
        const live = entries.isDeleted(id) ? undefined : await api.find(id);
        const isPoolOfBoth = inputs.poolingEnabled === true && live?.poolingEnabled === true;
        if (live && urlOf(live) === inputs.url && !isPoolOfBoth) found.push(live);
      }
      return found;
    };
    try {
      const age = stays ? 0 : mayPass(refusal) ? LIST_LAG : SHARED_FOR;
      const since = api.http.clock.now() - age;
      const found = await thatHold(await api.list.onUrl(inputs.url, since));
      if (found.length > 0) return found;
      // A filtered list does not prove that nothing holds the URL.
      const reading = api.list.whole(since);
      await reading.toEnd();
      return await thatHold(onUrl(reading, inputs.url));
    } catch (error) {
      // The refusal is reported even if the holder cannot be named.
      throw error instanceof EndpointsError ? urlLookup(refusal, error, shownUrl(inputs)) : error;
    }
  }

  /** Waits for an endpoint of this run that leaves the URL. */
  private async leaves({ id, type, createdFor }: LiveEndpoint): Promise<boolean> {
    const { api, settings, inputs, owner, entries, mover, log } = this.claim;
    const isOtherStacks = owner !== undefined && createdFor !== undefined && !isSameStack(createdFor, owner);
    if (this.left.has(id) || type !== "cloud" || isOtherStacks) return false;
    const hasLeft = await entries.left(id, {
      clock: api.http.clock,
      retryFor: settings.retryForSeconds * 1000,
      ...(mover !== undefined && { waiter: mover }),
      log: () =>
        log.info(
          `${shownUrl(inputs)} is still held by ${id}: waits in case that endpoint changes its URL in this run`,
        ),
    });
    if (hasLeft || entries.isManaged(id)) return hasLeft;
    // Another process of this run may have moved or deleted it.
    const live = await api.find(id);
    return live === undefined || urlOf(live) !== inputs.url;
  }

  private refuse(failure: EndpointsError, [holder]: readonly LiveEndpoint[]) {
    const { api, inputs, owner, entries, mover } = this.claim;
    if (!holder) return undefined;
    const isSame = isWanted(holder, inputs);
    const isMet = entries.accounts.has(holder.id);
    throw urlTaken(failure, shownUrl(inputs), {
      // The description may repeat a secret of this resource.
      holder: hasSecrets(inputs) ? { ...holder, description: undefined } : holder,
      owner,
      isUpdate: mover !== undefined,
      isSame,
      isYoung: isYounger(api, holder, REPAIRED_WITHIN),
      isManaged: entries.isManaged(holder.id),
      hasOtherUrl: entries.hasOtherUrl(holder.id, inputs.url),
      isMet,
    });
  }
}

/** Sends an update that moves the endpoint, again if another endpoint of this run leaves the URL. */
export async function sendToFreeUrl(claim: Claim, send: () => Promise<LiveEndpoint>): Promise<LiveEndpoint> {
  const conflict = new UrlConflict(claim);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await conflict.resolve(error);
    }
  }
}

/** The endpoint that an earlier run left in a pool: it has this resource's mark, and no entry that this run knows has it. */
export async function findLeftover(claim: Claim, owner: Owner): Promise<LiveEndpoint | undefined> {
  const { api, inputs, entries } = claim;
  const reading = api.list.whole(0);
  await reading.toEnd();
  const isOurs = (live: LiveEndpoint) =>
    !entries.accounts.has(live.id) && !entries.isDeleted(live.id) && isSameOwner(ownerAtCreate(live), owner);
  const [found, ...others] = [...reading.endpoints.values()].filter(isOurs);
  if (!found) return undefined;
  if (others.length > 0) {
    throw severalLeftovers(
      shownUrl(inputs),
      [found, ...others].map(({ id }) => id),
    );
  }
  const live = await api.find(found.id);
  if (live) logTakeOver(claim, live);
  return live;
}

const logTakeOver = ({ log, inputs }: Claim, { id }: LiveEndpoint) =>
  log.info(
    `${shownUrl(inputs)}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`,
  );

/** Whether an endpoint was created within this number of seconds, and is not in a pool. False if that is unknown. */
function isYounger({ http }: EndpointsApi, live: LiveEndpoint, seconds: number | undefined): boolean {
  const created = createdAt(live);
  const now = http.serviceClock.at(http.clock.now());
  if (seconds === undefined || created === undefined || now === undefined) return false;
  return created <= now + 1_000 && created >= now - seconds * 1000 && live.poolingEnabled !== true;
}

/** The listed endpoints with a URL, of any type. */
export const onUrl = ({ endpoints }: Reading, url: string) =>
  [...endpoints.values()].filter((live) => urlOf(live) === url);

/** Whether this is a cloud endpoint with exactly these inputs. */
export const isWanted = (live: LiveEndpoint, inputs: CloudEndpointInputs) =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

/** The live endpoint that `adopt` names; undefined if none serves the URL. */
export async function findAdoptable(
  api: EndpointsApi,
  inputs: CloudEndpointInputs,
): Promise<LiveEndpoint | undefined> {
  if (typeof inputs.adopt === "string") {
    const id = inputs.adopt;
    const live = (await findListed(api, id, inputs)) ?? (await adoptedById(api, id));
    if (live.type !== "cloud") throw wrongType(id, live.type ?? "unknown");
    return live;
  }
  const onUrl = (all: LiveEndpoint[]) => all.filter((live) => serves(live, inputs));
  const { clock } = api.http;
  let found = onUrl(await api.list.onUrl(inputs.url, clock.now() - OLDEST_LISTING));
  if (api.list.hasWritten) {
    // Each adoption that changes something outdates the list, so a thousand of them would read it a thousand times.
    const [first, ...others] = found;
    const live = first && others.length === 0 ? await api.find(first.id) : undefined;
    if (live && serves(live, inputs) && live.poolingEnabled !== true) return live;
    found = onUrl(await api.list.onUrl(inputs.url, clock.now()));
  }
  if (found.length === 1 && found[0]?.poolingEnabled === true) {
    // Others may share its URL, and a filter may omit them. One whole list serves all adoptions of a run.
    const reading = api.list.whole(0);
    await reading.toEnd();
    const ids = new Set(found.map(({ id }) => id));
    found = [...found, ...onUrl([...reading.endpoints.values()]).filter(({ id }) => !ids.has(id))];
  }
  const [first, ...others] = found;
  if (others.length > 0) {
    throw adoptAmbiguous(
      shownUrl(inputs),
      found.map(({ id }) => id),
    );
  }
  return first && (withoutGaps(first, inputs) ?? adoptedById(api, first.id));
}

/**
 * The endpoint as the list shows it, so that a thousand adoptions share one listing. Undefined after the first write, which
 * outdates the listing: from then on each adoption reads its own endpoint. Undefined too if the list omits an input that
 * the program gives, because the omission would count as a change.
 */
async function findListed(
  api: EndpointsApi,
  id: string,
  inputs: CloudEndpointInputs,
): Promise<LiveEndpoint | undefined> {
  const item = await api.list.item(id);
  return item && withoutGaps(item, inputs);
}

async function adoptedById(api: EndpointsApi, id: string): Promise<LiveEndpoint> {
  const live = await api.find(id);
  if (!live) throw adoptNotFound(id);
  return live;
}

/** The inputs that an adoption must change on the live endpoint. Throws if the scheme differs. */
export function differenceOnAdoption(live: LiveEndpoint, inputs: CloudEndpointInputs) {
  const before = withData(refreshed(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw adoptOtherScheme(live.id, shownUrl({ ...inputs, url: live.url ?? "" }), shownUrl(inputs));
  return { changed, before };
}

/** The inputs that an adoption sends, and the places that it changes, for a message. */
export function changesOnAdoption(live: LiveEndpoint, inputs: CloudEndpointInputs) {
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed
    .flatMap((name) => changesBetween(before[name], inputs[name], [name]))
    .map(({ path }) => shownPlace(path, inputs));
  if (live.createdFor === undefined) return { sent: changed, places };
  // A new mark tells the other entries with this endpoint, in any process, that it is this resource's now. A stack without
  // marks removes the old one, which would name the wrong owner.
  return { sent: [...new Set([...changed, "metadata" as const])], places: [...places, "its mark"] };
}

/** Why the endpoint's metadata cannot be a program's: the mark's key holds something that is no mark. */
export function reservedKeyProblem({ metadata }: LiveEndpoint): string | undefined {
  const { data } = metadataFromText(metadata ?? "");
  if (!isMapping(data) || !Object.hasOwn(data, MARK_FIELD)) return undefined;
  return `its metadata has the key ${MARK_FIELD}, which is reserved for marks (endpoints:mark), with something else; rename or remove that key on the service first`;
}

/** Whether this is a cloud endpoint with the program's URL. */
export const serves = (live: LiveEndpoint, inputs: CloudEndpointInputs) =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
