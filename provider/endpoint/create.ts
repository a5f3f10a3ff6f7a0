import { ApiError, ConnectionError, EndpointsError, isOfService, ReplyError } from "../api/apiErrors";
import { createdAt } from "../api/clock";
import type { LiveEndpoint, Mark } from "../api/contract";
import { randomNumber, withMark } from "../api/mark";
import { idSchema } from "../api/replySchemas";
import { backOff } from "../api/retry";
import { normalizeUrl, urlOf } from "../api/url";
import { isWanted } from "./adopt";
import { createDoubtful, createUnsettled, severalLeftovers } from "./errors";
import { managedInputs } from "./fields";
import { LIST_LAG } from "./gone";
import { isLeftover } from "./owners";
import { shownUrl } from "./secrets";
import { wireFromInputs } from "./state";
import { type Claim, heldBy, holds, isRefusal, TakenUrl, takesOver } from "./takenUrl";

/*
 * A create whose answer was lost may have happened. Sending it again could make two endpoints; giving up could leave one that
 * is in no state; and an endpoint that is found on the URL may be another stack's. So the provider looks for it, three times.
 * If it cannot decide, an error names the candidates.
 */

/** The endpoint that exists after the create. */
interface Created {
  live: LiveEndpoint;
  /** False if an earlier run created it, so that it may still differ from the program. */
  isNew: boolean;
}

/** A create whose answer was lost, once or several times. Times by this machine's clock, in milliseconds. */
interface LostCreate {
  error: EndpointsError;
  /** When it was first sent. */
  sent: number;
  /** When the last loss was known. */
  lost: number;
  /** The id that an unusable reply has named. */
  repliedId: string | undefined;
  /** The random number of the mark that was sent. */
  nonce: string | undefined;
}

/** The waits before each look for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOK_AFTER = [0, 2_000, 2 * LIST_LAG - 2_000];

/** How far `created_at` may be outside of the time in which a lost create was under way, in milliseconds. */
const TOLERANCE = 2_000;

/**
 * Creates an endpoint exactly once, even if answers are lost.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if it stays open which endpoint is ours.
 */
export async function createOnce(claim: Claim): Promise<Created> {
  const leftover = await leftoverInPool(claim);
  if (leftover) return { live: leftover, isNew: false };

  const { api, inputs, owners } = claim;
  const mark = await newMark(claim);
  const nonce = mark?.().nonce;
  const given = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = () => wireFromInputs(inputs, mark ? [...given, "metadata"] : given, mark?.());
  // A reply without our mark may be about somebody else's endpoint. The look for a lost create decides.
  const isOurs = ({ id, createdFor }: LiveEndpoint) =>
    !owners.accounts.has(id) && createdFor?.nonce === nonce;
  const takenUrl = new TakenUrl(claim);
  let lost: LostCreate | undefined;
  for (let count = 1; ; count++) {
    try {
      return { live: await api.create(body, isOurs), isNew: true };
    } catch (error) {
      if (mayHaveHappened(error)) lost = lostAgain(lost, error, { now: api.http.clock.now(), nonce });
      else if (!isRefusal(error)) throw error;
      const found = lost && (await findLostCreate(claim, lost));
      if (found) return found;
      if (isRefusal(error)) {
        const taken = await takenUrl.resolve(error);
        if (taken) return { live: taken, isNew: false };
        continue;
      }
      if (lost) await pauseBefore(count, lost, claim);
    }
  }
}

/** Waits until a create that did not happen is repeated: for as long as any other request. Then throws the error. */
async function pauseBefore(
  count: number,
  { error, sent }: LostCreate,
  { api, settings }: Claim,
): Promise<void> {
  const { clock } = api.http;
  const retryFor = settings.retryForSeconds * 1000;
  const wait = backOff({ sent: count, elapsed: clock.now() - sent, retryFor, random: clock.random() });
  if (wait === undefined) throw error;
  await clock.sleep(wait);
}

/** The lost create, after it was lost for the first time or again. */
function lostAgain(
  before: LostCreate | undefined,
  error: EndpointsError,
  { now, nonce }: { now: number; nonce: string | undefined },
): LostCreate {
  const reply = error instanceof ReplyError ? idSchema.safeParse(error.reply).data : undefined;
  const { sent = error.sentAt ?? now, repliedId = reply?.id } = before ?? {};
  return { error, sent, lost: now, repliedId, nonce };
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
 * @returns It, or what an earlier run left on the URL; undefined if the create did not happen.
 * @throws UserError if that stays open. It names the candidates.
 */
async function findLostCreate(claim: Claim, lost: LostCreate): Promise<Created | undefined> {
  const { api, inputs, owner, owners, log } = claim;
  const { error, repliedId, nonce } = lost;
  const url = shownUrl(inputs);
  // Members of a pool may all be equal, and the service accepts one more.
  const isCertain = nonce !== undefined || inputs.poolingEnabled !== true;
  let found: Found = { ours: [], doubtful: [], holders: [] };
  for (const [index, wait] of LOOK_AFTER.entries()) {
    await api.http.clock.sleep(wait);
    const isLast = index === LOOK_AFTER.length - 1;
    found = await lookOnce(claim, lost, { isLast }).catch((why: unknown) => {
      throw why instanceof EndpointsError ? createUnsettled(error, why, url) : why;
    });
    const [live, ...others] = found.ours;
    if (live && others.length + found.doubtful.length === 0 && isCertain) {
      const message = `${url}: after a lost answer, this run continues with ${live.id}`;
      if (nonce) log.info(`${message}, which it has created`);
      else
        log.warn(
          `${message}. It has created it, or another run has, with the same content within two seconds: check that no other stack has this id. endpoints:mark removes the doubt`,
        );
      return { live, isNew: true };
    }
  }
  const candidates = [
    ...found.ours.map(({ id }) => id),
    ...found.doubtful,
    ...(repliedId ? [repliedId] : []),
  ];
  if (candidates.length > 0 || !isCertain) throw createDoubtful(error, url, [...new Set(candidates)]);
  const [holder, ...others] = found.holders;
  if (!holder) return undefined;
  if (others.length === 0 && isLeftover(holder, owner, owners)) return { live: holder, isNew: false };
  throw heldBy(claim, error, holder);
}

/** What a look finds, without the endpoints of other resources. */
interface Found {
  ours: LiveEndpoint[];
  /** The ids of those that may be ours. */
  doubtful: string[];
  /** The others on the URL. */
  holders: LiveEndpoint[];
}

/** Looks once. Services list the newest first, so only the last look reads the whole list. */
async function lookOnce(claim: Claim, lost: LostCreate, { isLast }: { isLast: boolean }): Promise<Found> {
  const { api, inputs, owners } = claim;
  const reading = api.list.whole(api.http.clock.now());
  await (isLast ? reading.toEnd() : reading.firstPage());
  const listed = [...reading.endpoints.values()]
    .filter((live) => urlOf(live) === inputs.url)
    .map(({ id }) => id);
  const found: Found = { ours: [], doubtful: [], holders: [] };
  for (const id of new Set([...listed, ...(lost.repliedId ? [lost.repliedId] : [])])) {
    if (owners.accounts.has(id)) continue;
    const live = await api.find(id);
    const isOurs = live ? isOfLostCreate(claim, lost, live) : undefined;
    if (live && isOurs) found.ours.push(live);
    // A read by id may lag behind the list.
    else if (isOurs === undefined && listed.includes(id)) found.doubtful.push(id);
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

/** What an earlier run left in a pool. The service accepts any number of members, so no refusal would reveal it. */
async function leftoverInPool({ api, inputs, owner, owners, log }: Claim): Promise<LiveEndpoint | undefined> {
  if (!owner || inputs.poolingEnabled !== true) return undefined;
  const reading = api.list.whole(0);
  const all = await reading.toEnd();
  // One that cannot be read may be the leftover.
  api.list.reportSkipped(reading);
  const ids = all.filter((live) => isLeftover(live, owner, owners)).map(({ id }) => id);
  const [id, ...others] = ids;
  if (id === undefined) return undefined;
  if (others.length > 0) throw severalLeftovers(shownUrl(inputs), ids);
  const live = await api.find(id);
  const found = takesOver(shownUrl(inputs), id);
  // The other provider, or a run with --target, does not meet an entry that has left this name.
  if (live)
    log.warn(
      `${found}. If a resource that was renamed from this name has it, run \`pulumi state delete\` for this one, and give it another name`,
    );
  return live;
}

/** The mark of a create, with the time of each call; undefined, with a message, if the metadata cannot hold one. */
async function newMark({ api, inputs, owner, log }: Claim): Promise<(() => Mark) | undefined> {
  if (!owner) return undefined;
  const { clock, serviceClock } = api.http;
  const nonce = randomNumber();
  const mark = () => {
    const now = serviceClock.at(clock.now());
    return { ...owner, nonce, time: now === undefined ? "unknown" : new Date(now).toISOString() };
  };
  if (withMark(inputs.metadata, mark()) === undefined) {
    log.info(
      `${shownUrl(inputs)}: is created without a mark (endpoints:mark), because its metadata is text or a list, or would get too long`,
    );
    return undefined;
  }
  // Any reply shows the service's clock. A failure of the list leaves it unknown.
  if (serviceClock.at(clock.now()) === undefined)
    await api.list
      .whole(0)
      .firstPage()
      .catch(() => {});
  return mark;
}
