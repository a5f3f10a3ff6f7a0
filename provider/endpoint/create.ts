import { ApiError, ConnectionError, EndpointsError, isOfService, ReplyError } from "../api/apiErrors";
import { createdAt } from "../api/clock";
import type { LiveEndpoint } from "../api/contract";
import { idSchema } from "../api/replySchemas";
import { normalizeUrl, urlOf } from "../api/url";
import { isWanted, leftoverInPool, takeOverLeftover } from "./adopt";
import { createDoubtful, createUnsettled } from "./errors";
import { managedInputs } from "./fields";
import { type Claim, isLeftover, markOf } from "./owners";
import { wireFromInputs } from "./state";
import { holds, sendToFreeUrl, urlTaken } from "./takenUrl";

/*
 * A create whose answer was lost may have happened. Sending it again could make two endpoints; giving up could leave one that
 * is in no state; and an endpoint that is found on the URL may be another stack's. So the provider looks for it, three times.
 * If it cannot decide, an error names the candidates.
 */

/** The attempts of a create whose answers were lost. Times by this machine's clock, in milliseconds. */
interface LostCreate {
  /** The last loss. */
  error: EndpointsError;
  /** When the first of them was sent. */
  sent: number;
  /** When the last loss was known. */
  lost: number;
  /** The random number of the mark that was sent. */
  nonce: string | undefined;
}

/** The waits before each look for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOK_AFTER = [0, 2_000, 8_000];

/** How far `created_at` may be outside of the time in which a lost create was under way, in milliseconds. */
const TOLERANCE = 2_000;

/**
 * Creates an endpoint exactly once, even if answers are lost, or takes over what an earlier run created for this resource.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if it stays open which endpoint is ours.
 */
export async function createOnce(claim: Claim): Promise<LiveEndpoint> {
  const leftover = await leftoverInPool(claim);
  if (leftover) return takeOverLeftover(leftover, claim);

  const { api, inputs, owners } = claim;
  const { clock, settings } = api.http;
  const mark = markOf(claim);
  const nonce = mark?.nonce;
  // Any reply shows the service's clock. A failure of the list leaves it unknown.
  if (mark && timeOf(claim) === undefined)
    await api.list
      .whole(0)
      .firstPage()
      .catch(() => {});
  const given = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = () => {
    if (!mark) return wireFromInputs(inputs, given);
    return wireFromInputs(inputs, [...given, "metadata"], { ...mark, time: timeOf(claim) ?? mark.time });
  };
  // A reply without our mark may be about somebody else's endpoint. The look for a lost create decides.
  const isOurs = ({ id, createdFor }: LiveEndpoint) => !owners.knows(id) && createdFor?.nonce === nonce;
  let lost: LostCreate | undefined;

  const sendOrFind = async (): Promise<LiveEndpoint> => {
    for (;;) {
      try {
        return await api.create(body, isOurs);
      } catch (error) {
        const isLost = mayHaveHappened(error);
        const now = clock.now();
        if (isLost) lost = { error, sent: lost?.sent ?? error.sentAt ?? now, lost: now, nonce };
        const found = lost && (await findLostCreate(claim, lost));
        if (found) return found;
        const isTooLate = lost && clock.now() - lost.sent >= settings.retryForSeconds * 1000;
        if (!isLost || isTooLate) throw error;
      }
    }
  };
  const live = await sendToFreeUrl(claim, sendOrFind);
  // Refuses the second of two resources that both lost their answers and found one endpoint.
  owners.add(live.id, claim.entry);
  return live;
}

/** Whether a create with this error may have had an effect. */
function mayHaveHappened(error: unknown): error is EndpointsError {
  if (error instanceof ConnectionError) return error.wentOut;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing: an earlier attempt may have reached the service.
  return status >= 500 || status === 408 || (status === 429 && !isOfService(error));
}

/**
 * Looks for the endpoint that a lost create has made.
 *
 * @returns It, or what an earlier run left on the URL, taken over; undefined if no look shows that the create happened.
 * @throws UserError if that stays open. It names the candidates.
 */
async function findLostCreate(claim: Claim, lost: LostCreate): Promise<LiveEndpoint | undefined> {
  const { api, inputs, owner, owners, shownUrl, log } = claim;
  const { error, nonce } = lost;
  // Members of a pool may all be equal, and the service accepts one more.
  const isCertain = nonce !== undefined || inputs.poolingEnabled !== true;
  let found: Found = { ours: [], doubtful: [], holders: [] };
  for (const [index, wait] of LOOK_AFTER.entries()) {
    await api.http.clock.sleep(wait);
    const isLast = index === LOOK_AFTER.length - 1;
    found = await lookOnce(claim, lost, { isLast }).catch((why: unknown) => {
      throw why instanceof EndpointsError ? createUnsettled(error, why, shownUrl) : why;
    });
    const [live, ...others] = found.ours;
    if (live && others.length + found.doubtful.length === 0 && isCertain) {
      if (nonce === undefined)
        log.warn(
          `${shownUrl}: after a lost answer, this run continues with ${live.id}. It has created it, or another run has, with the same content within two seconds: check that no other stack has this id. endpoints:mark removes the doubt`,
        );
      return live;
    }
  }
  // A reply that cannot be used may still name an endpoint that exists.
  const reply = error instanceof ReplyError ? idSchema.safeParse(error.reply).data : undefined;
  const candidates = new Set([
    ...found.ours.map(({ id }) => id),
    ...found.doubtful,
    ...(reply ? [reply.id] : []),
  ]);
  if (candidates.size > 0 || !isCertain) throw createDoubtful(error, shownUrl, [...candidates]);
  const [holder, ...others] = found.holders;
  if (!holder) return undefined;
  if (others.length === 0 && isLeftover(holder, owner, owners)) return takeOverLeftover(holder, claim);
  throw urlTaken(error, holder, claim);
}

/** What a look finds on the URL, without the endpoints of other resources. */
interface Found {
  ours: LiveEndpoint[];
  /** The ids of those that may be ours. */
  doubtful: string[];
  /** The others that keep the URL from this resource. */
  holders: LiveEndpoint[];
}

/** Looks once. Services list the newest first, so only the last look reads the whole list. */
async function lookOnce(claim: Claim, lost: LostCreate, { isLast }: { isLast: boolean }): Promise<Found> {
  const { api, inputs, owners } = claim;
  const reading = api.list.whole(api.http.clock.now());
  await (isLast ? reading.toEnd() : reading.firstPage());
  const found: Found = { ours: [], doubtful: [], holders: [] };
  for (const item of reading.endpoints.values()) {
    if (urlOf(item) !== inputs.url || owners.knows(item.id)) continue;
    // A read by id has every field, but may lag behind the list.
    const live = await api.find(item.id);
    const isOurs = live && isOfLostCreate(claim, lost, live);
    if (isOurs) found.ours.push(live);
    else if (isOurs === undefined) found.doubtful.push(item.id);
    else if (live && holds(live, inputs)) found.holders.push(live);
  }
  for (const { id = "one without an id", url } of reading.skipped)
    if (url === undefined || normalizeUrl(url) === inputs.url) found.doubtful.push(id);
  return found;
}

/**
 * Whether a lost create has made this endpoint. With a mark, it has its random number. Without one, it has our URL and content, no
 * mark, and was created while the create was under way, by the service's clock. Undefined if that is not known.
 */
function isOfLostCreate(
  { api, inputs }: Claim,
  { sent, lost, nonce }: LostCreate,
  live: LiveEndpoint,
): boolean | undefined {
  if (nonce) return live.createdFor?.nonce === nonce;
  if (live.createdFor || !isWanted(live, inputs)) return false;
  const created = createdAt(live);
  const [from, to] = [api.http.serviceClock.at(sent), api.http.serviceClock.at(lost)];
  if (created === undefined || from === undefined || to === undefined) return undefined;
  return created >= from - TOLERANCE && created <= to + TOLERANCE;
}

/** Now, by the service's clock, RFC 3339; undefined if no reply has shown it. */
function timeOf({ api }: Claim): string | undefined {
  const now = api.http.serviceClock.at(api.http.clock.now());
  return now === undefined ? undefined : new Date(now).toISOString();
}
