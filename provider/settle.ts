import { differenceOnAdoption, serves } from "./adoption";
import type { EndpointsApi } from "./api/endpoints";
import { ApiError, ConnectionError, EndpointsError, isGone, ReplyError } from "./api/errors";
import type { LiveEndpoint } from "./api/items";
import { backOff } from "./api/retry";
import { managedInputs } from "./diff";
import { refusals } from "./refusals";
import type { CloudEndpointInputs } from "./schema";
import { wireChange } from "./state";

/*
 * A create whose answer was lost may have happened. Sent again blindly it could make two; given up, it could leave one
 * behind that nobody knows. So the service is asked: what is there on our URL, made since we first tried, with exactly
 * our content, and nobody's in this process, is ours.
 */

/** Times on the wire are whole seconds, and so is the service's clock in a reply: each may be a second behind. */
const ROUNDING = 2_000;

/** What settling needs to know beside the service. */
export interface Settling {
  api: EndpointsApi;
  inputs: CloudEndpointInputs;
  /** Whether a resource of this process has this id already. */
  isOwned: (id: string) => boolean;
  say: (message: string) => void;
}

/**
 * Creates an endpoint once, whatever happens to the answers.
 *
 * @throws what the service refused with; RefusedError where it cannot be told what is ours, or the URL is taken;
 *   ReplyError with the id where the endpoint is there and cannot be described.
 */
export async function createOnce(settling: Settling): Promise<LiveEndpoint> {
  const { api, inputs } = settling;
  const { clock, settings } = api.http;
  const given = managedInputs.filter((name) => inputs[name] !== undefined);
  let firstSent: number | undefined;
  for (let sent = 1; ; sent++) {
    let error: unknown;
    try {
      return await api.create(wireChange(inputs, given));
    } catch (thrown) {
      error = thrown;
    }
    if (error instanceof ReplyError && error.id !== undefined) {
      const live = await described(api, error.id, inputs, error);
      if (live) return live;
    }
    const lost = mayHaveHappened(error);
    if (lost && error instanceof EndpointsError) firstSent ??= error.sentAt;
    if (firstSent !== undefined && (lost || isConflict(error))) {
      const found = await oursSince(firstSent, settling, error);
      if (found) return found;
    }
    if (isConflict(error)) return await whoHasIt(settling, error);
    if (!lost || firstSent === undefined) throw error;

    // It did not happen, and is sent again for as long as any other request would be.
    const elapsed = clock.now() - firstSent;
    const retryFor = settings.retryForSeconds * 1000;
    const wait = backOff({ sent, elapsed, retryFor, random: clock.random() });
    if (wait === undefined) throw error;
    await clock.sleep(wait);
  }
}

/** Whether a create that ended like this can have had its effect. */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.wentOut;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error;
  // A proxy's own 429 says nothing of the service, which may have been asked before.
  return status >= 500 || status === 408 || (status === 429 && code === undefined);
}

/** The URL has an endpoint: after a lost answer perhaps our own. */
const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 409 || /_18009$/.test(error.code ?? ""));

/** The endpoint of a reply that had its id and nothing else of use; undefined where that id is not its own. */
async function described(
  api: EndpointsApi,
  id: string,
  inputs: CloudEndpointInputs,
  reply: ReplyError,
): Promise<LiveEndpoint | undefined> {
  try {
    const live = await api.get(id);
    return live.id === id && serves(live, inputs) ? live : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw reply;
  }
}

/** The endpoint that our own lost create made; undefined where there is none. */
async function oursSince(
  firstSent: number,
  settling: Settling,
  lost: unknown,
): Promise<LiveEndpoint | undefined> {
  const { api, inputs, isOwned } = settling;
  const ours = new Map<string, LiveEndpoint>();
  const unreadable: string[] = [];
  const pooled = inputs.poolingEnabled === true;
  try {
    for await (const { endpoints, skipped } of api.pages()) {
      const since = serviceTime(api, firstSent);
      for (const live of endpoints) {
        if (!isOwned(live.id) && !isBefore(live, since) && isWanted(live, inputs)) ours.set(live.id, live);
      }
      unreadable.push(...skipped.map(({ id }) => id ?? "one without an id"));
      // Newest first: what follows is older still.
      if (endpoints.some((live) => isBefore(live, since))) break;
    }
  } catch (error) {
    throw refusals.createUnsettled(reasonOf(lost), reasonOf(error), inputs.url, pooled);
  }
  const [first, ...others] = ours.values();
  // In a pool others may have the same URL and content, so that nothing tells whose it is.
  const doubtful = pooled ? [...ours.keys(), ...unreadable] : others.length > 0 ? [...ours.keys()] : [];
  if (doubtful.length > 0) throw refusals.createDoubtful(reasonOf(lost), inputs.url, doubtful);
  return first;
}

/** The URL was taken before we came: by whom, and what to do. With `recoverWithin` a leftover of ours is taken over. */
async function whoHasIt({ api, inputs, isOwned, say }: Settling, conflict: ApiError): Promise<LiveEndpoint> {
  const holders = new Map<string, LiveEndpoint>();
  try {
    for await (const { endpoints } of api.pages()) {
      for (const live of endpoints) if (serves(live, inputs)) holders.set(live.id, live);
    }
  } catch {
    // Who has it would be good to know; that somebody has it is what must be told.
    throw conflict;
  }
  const [holder, ...others] = holders.values();
  if (!holder || others.length > 0) throw conflict;

  const same = isWanted(holder, inputs);
  const { recoverWithin } = api.http.settings;
  const now = api.http.serviceNow();
  if (recoverWithin !== undefined && now !== undefined && same && !isOwned(holder.id)) {
    const pooled = inputs.poolingEnabled === true || holder.poolingEnabled === true;
    const since = now - recoverWithin * 1000;
    if (!pooled && holder.createdAt !== undefined && !isBefore(holder, since)) {
      say(
        `${inputs.url}: takes over ${holder.id}, which a run that was ended left behind (endpoints:recoverWithin)`,
      );
      return holder;
    }
  }
  throw refusals.urlTaken(conflict, holder, same);
}

/** A moment of ours by the service's clock; undefined where it never told it. */
function serviceTime({ http }: EndpointsApi, moment: number): number | undefined {
  const now = http.serviceNow();
  return now === undefined ? undefined : now - (http.clock.now() - moment) - ROUNDING;
}

/** Whether it was made before then. What does not say when it was made may have been made just now. */
const isBefore = ({ createdAt }: LiveEndpoint, time: number | undefined) =>
  time !== undefined && Date.parse(createdAt ?? "") < time;

/** On our URL, with exactly our content. */
const isWanted = (live: LiveEndpoint, inputs: CloudEndpointInputs) =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
