import { differenceOnAdoption, serves } from "./adoption";
import { type ApiError, EndpointsError } from "./api/apiErrors";
import type { Log } from "./api/client";
import type { LiveEndpoint, Mark, Owner } from "./api/contract";
import type { EndpointsApi } from "./api/endpoints";
import { isSameOwner } from "./api/mark";
import { codeNumber } from "./api/nextSteps";
import { createdAt, type Reading } from "./api/reading";
import { urlOf } from "./api/url";
import type { Settings } from "./config";
import { CreateRefusedError, SeveralLeftoversError, UrlTakenError } from "./errors";
import { LIST_LAG } from "./gone";
import { shownUrl } from "./markedSecrets";
import type { CloudEndpointInputs } from "./schema";

/* The endpoints that a create finds on its URL: a stranger's, or one that an earlier run of this stack left behind. */

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const PASSING: readonly unknown[] = [18006, 18016, 18017];

/** Refusals that are unlikely to be about a URL share a reading of the list of at most this age, in milliseconds. */
const SHARED_FOR = 60_000;

/** A create and its dependencies. */
export interface Creation {
  api: EndpointsApi;
  settings: Settings;
  inputs: CloudEndpointInputs;
  /** With `endpoints:mark`, the resource that the endpoint is for. */
  owner: Owner | undefined;
  /** Whether a resource of this run has this id. */
  isKnown: (id: string) => boolean;
  /** Whether this process deleted this id. */
  isDeleted: (id: string) => boolean;
  log: Log;
}

/** Whether a later try may succeed if no endpoint is found on the URL. */
export const mayPass = (error: ApiError) =>
  error.status === 409 || PASSING.includes(codeNumber(error)) || codeNumber(error) === 18009;

/**
 * Looks for the endpoint that holds the URL of a refused create. The service's reason does not matter.
 *
 * @returns A leftover of this stack to take over; undefined if nothing holds the URL.
 * @throws UserError that names the holder and the next steps.
 */
export async function findConflict(
  refusal: ApiError,
  creation: Creation,
  mark: Mark | undefined,
  stays: boolean,
): Promise<LiveEndpoint | undefined> {
  const { api, inputs, isDeleted } = creation;
  // The list may show endpoints that were deleted or moved meanwhile. Members of a pool share a URL, so they do not hold it.
  const read = new Set<string>();
  const thatHold = async (listed: LiveEndpoint[]) => {
    const found: LiveEndpoint[] = [];
    for (const { id } of listed) {
      if (read.has(id)) continue;
      read.add(id);
      const live = isDeleted(id) ? undefined : await api.find(id);
      const isPoolOfBoth = inputs.poolingEnabled === true && live?.poolingEnabled === true;
      if (live && urlOf(live) === inputs.url && !isPoolOfBoth) found.push(live);
    }
    return found;
  };
  let holders: LiveEndpoint[] = [];
  try {
    if (api.list.affordsLookup(false)) holders = await thatHold(await api.list.onUrl(inputs.url, true));
    if (holders.length === 0) {
      // A filtered list does not prove that nothing holds the URL.
      const age = stays ? 0 : mayPass(refusal) ? LIST_LAG : SHARED_FOR;
      const reading = api.list.since(api.http.clock.now() - age);
      await reading.toEnd();
      holders = await thatHold(onUrl(reading, inputs.url));
    }
  } catch (error) {
    // The refusal is reported even if the holder cannot be named.
    throw error instanceof EndpointsError ? new CreateRefusedError(refusal, error, shownUrl(inputs)) : error;
  }
  return takeOverOrRefuse(refusal, holders, creation, mark);
}

/**
 * Decides about the endpoints that hold the URL of a create.
 *
 * @returns A leftover of this stack to take over; undefined if nothing holds the URL.
 * @throws UserError that names the holder and the next steps.
 */
export function takeOverOrRefuse(
  failure: EndpointsError,
  holders: readonly LiveEndpoint[],
  { api, settings, inputs, owner, isKnown, log }: Creation,
  mark: Mark | undefined,
): LiveEndpoint | undefined {
  const leftover = holders.find((live) => !isKnown(live.id) && isSameOwner(live.createdFor, owner));
  if (leftover) {
    logTakeOver(log, inputs, leftover);
    return leftover;
  }
  const [holder, ...others] = holders;
  if (!holder) return undefined;
  const isSame = isWanted(holder, inputs);
  // A leftover of an unmarked create has no mark.
  const isMarked = mark !== undefined || holder.createdFor !== undefined;
  if (
    others.length === 0 &&
    isSame &&
    !isMarked &&
    !isKnown(holder.id) &&
    isYoungEnough(api, settings, holder)
  ) {
    log.info(
      `${shownUrl(inputs)}: takes over ${holder.id}, which a killed run left behind (endpoints:recoverWithin)`,
    );
    return holder;
  }
  const description = holder.description && api.http.cleaned(holder.description);
  const shown = { ...holder, description };
  throw new UrlTakenError(failure, shownUrl(inputs), shown, { isSame, isKnown: isKnown(holder.id) });
}

/** The endpoint that an earlier run left in a pool: it has this resource's mark, and no resource of this run has it. */
export async function findLeftover(
  { api, inputs, isKnown, isDeleted, log }: Creation,
  owner: Owner,
): Promise<LiveEndpoint | undefined> {
  const reading = api.list.since(0);
  await reading.toEnd();
  const isOurs = ({ id, createdFor }: LiveEndpoint) =>
    !isKnown(id) && !isDeleted(id) && isSameOwner(createdFor, owner);
  const [found, ...others] = [...reading.endpoints.values()].filter(isOurs);
  if (!found) return undefined;
  if (others.length > 0) {
    throw new SeveralLeftoversError(
      shownUrl(inputs),
      [found, ...others].map(({ id }) => id),
    );
  }
  const live = await api.find(found.id);
  if (live) logTakeOver(log, inputs, live);
  return live;
}

const logTakeOver = (log: Log, inputs: CloudEndpointInputs, { id }: LiveEndpoint) =>
  log.info(
    `${shownUrl(inputs)}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`,
  );

/** Whether `endpoints:recoverWithin` allows to take the endpoint over: it is young enough, and not in a pool. */
function isYoungEnough({ http }: EndpointsApi, { recoverWithin }: Settings, live: LiveEndpoint): boolean {
  const created = createdAt(live);
  const now = http.serviceClock.at(http.clock.now());
  if (recoverWithin === undefined || created === undefined || now === undefined) return false;
  return (
    created <= now.latest && created >= now.earliest - recoverWithin * 1000 && live.poolingEnabled !== true
  );
}

/** The listed endpoints with a URL, of any type. */
export const onUrl = ({ endpoints }: Reading, url: string) =>
  [...endpoints.values()].filter((live) => urlOf(live) === url);

/** Whether this is a cloud endpoint with exactly these inputs. */
export const isWanted = (live: LiveEndpoint, inputs: CloudEndpointInputs) =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;
