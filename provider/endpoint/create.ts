import { ApiError, ConnectionError, EndpointsError, isOfService, ReplyError } from "../api/apiErrors";
import { createdAt } from "../api/clock";
import type { LiveEndpoint, Mark, Owner } from "../api/contract";
import { isAbout } from "../api/endpoints";
import { randomNumber, withMark } from "../api/mark";
import { idSchema } from "../api/replySchemas";
import { backOff } from "../api/retry";
import { normalizeUrl, urlOf } from "../api/url";
import { type Claim, findLeftover, isRefusal, isWanted, onUrl, UrlConflict } from "./conflicts";
import { createDoubtful, createUnsettled } from "./errors";
import { managedInputs } from "./fields";
import { LIST_LAG } from "./gone";
import { shownUrl } from "./secrets";
import { wireChange } from "./state";

/*
 * A create whose answer was lost may have happened. Sending it again could make two endpoints; giving up could leave one that
 * is in no state; and an endpoint that is found on the URL may be another stack's. So the provider looks for it, more than
 * once. If it cannot decide, an error names the candidates.
 */

/** The waits before each look for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOK_AFTER = [0, 2_000, 2 * LIST_LAG - 2_000];

/** How far the creation time of a lost create may lie outside of its tries, in milliseconds. */
const TOLERANCE = 2_000;

/** The endpoint that exists after the create. */
interface Created {
  live: LiveEndpoint;
  /** Whether an earlier run created it, so that it may still differ from the program. */
  leftover: boolean;
}

/** A reply with the id of the new endpoint whose other fields cannot be read. */
export class UnreadableReply extends Error {
  constructor(
    readonly id: string,
    override readonly cause: ReplyError,
  ) {
    super(cause.message);
  }
}

/**
 * Creates an endpoint exactly once, even if answers are lost.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if it stays open which endpoint is ours;
 *   UnreadableReply if the endpoint exists but cannot be described.
 */
export async function createOnce(claim: Claim): Promise<Created> {
  const { api, settings, inputs, owner, entries } = claim;
  const { clock } = api.http;
  const mark = owner && (await newMark(claim, owner));
  const given = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = () => wireChange(inputs, mark ? [...given, "metadata"] : given, mark?.());
  // The service accepts any number of members in a pool, so no refusal would reveal a leftover.
  const leftover = owner && inputs.poolingEnabled === true && (await findLeftover(claim, owner));
  if (leftover) return { live: leftover, leftover: true };

  const { nonce } = mark?.() ?? {};
  const isOurs = ({ id, createdFor }: LiveEndpoint) =>
    !entries.accounts.has(id) && (nonce === undefined || createdFor?.nonce === nonce);
  const conflict = new UrlConflict(claim);
  const tries: LostTry[] = [];
  for (let count = 1; ; count++) {
    let error: unknown;
    try {
      return { live: await api.create(body, isOurs), leftover: false };
    } catch (thrown) {
      error = thrown;
    }
    const described = error instanceof ReplyError && (await describe(error, claim));
    if (described) return { live: described, leftover: false };
    if (isRefusal(error)) {
      const taken = await conflict.resolve(error);
      if (taken) return { live: taken, leftover: true };
      continue;
    }
    if (!mayHaveHappened(error) || !(error instanceof EndpointsError)) throw error;

    tries.push({ sent: error.sentAt ?? clock.now(), lost: clock.now() });
    const { ours, holders } = await findLostCreate(tries, error, claim, nonce);
    if (ours) return { live: ours, leftover: false };
    // A service that accepts a taken URL would create a second endpoint. The one that exists may still be ours, if the service
    // changed the content, or its clock differs from the `Date` of its replies.
    const taken = holders.length > 0 && (await conflict.decide(error, holders));
    if (taken) return { live: taken, leftover: true };
    // The create did not happen. It is repeated for as long as any other request.
    const elapsed = clock.now() - Math.min(...tries.map(({ sent }) => sent));
    const retryFor = settings.retryForSeconds * 1000;
    const wait = backOff({ sent: count, elapsed, retryFor, random: clock.random() });
    if (wait === undefined) throw error;
    await clock.sleep(wait);
  }
}

/** Whether a create with this error may have had an effect. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.wentOut;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing: an earlier attempt may have reached the service.
  return status >= 500 || status === 408 || (status === 429 && !isOfService(error));
}

/** Reads the endpoint of a reply that has the right id, URL and type, but other fields that cannot be read. */
async function describe(
  error: ReplyError,
  { api, inputs, entries }: Claim,
): Promise<LiveEndpoint | undefined> {
  const { data } = idSchema.safeParse(error.reply);
  if (!data || !isAbout(error.reply, inputs.url) || entries.accounts.has(data.id)) return undefined;
  // A reply that can be read was refused because it is about another endpoint.
  if (api.reader.safeParse(error.reply).success) return undefined;
  try {
    const live = await api.find(data.id);
    return live && isAbout(live, inputs.url) ? live : undefined;
  } catch {
    throw new UnreadableReply(data.id, error);
  }
}

/** An attempt whose answer was lost. Times by this machine's clock, in milliseconds. */
interface LostTry {
  sent: number;
  /** When the loss was known. */
  lost: number;
}

/** The result of a look for a lost create. */
interface Found {
  /** The endpoints that are as ours must be. If there are several, only one is. */
  ours: LiveEndpoint[];
  /** The ids of other endpoints that may be ours. */
  doubtful: string[];
  /** Other endpoints that hold the URL. Members of a pool do not. */
  holders: LiveEndpoint[];
}

/**
 * Looks for the endpoint that the lost create made, and for others with its URL.
 *
 * With marks, ours has this create's mark. Without marks, ours has no mark, our URL and content, no other owner in this run,
 * and was created while a try was under way, by the service's clock.
 *
 * @throws UserError if it stays open which endpoint is ours. It names the candidates.
 */
async function findLostCreate(
  tries: readonly LostTry[],
  lost: EndpointsError,
  claim: Claim,
  nonce: string | undefined,
): Promise<{ ours?: LiveEndpoint; holders: LiveEndpoint[] }> {
  const { api, inputs, log } = claim;
  const { clock } = api.http;
  // Members of a pool may all be equal, and the service accepts one more.
  const isShared = inputs.poolingEnabled === true && nonce === undefined;
  let candidates: string[] = [];
  let holders: LiveEndpoint[] = [];
  for (const wait of LOOK_AFTER) {
    if (wait > 0) await clock.sleep(wait);
    const found = await lookOnce(tries, lost, claim, nonce);
    const [ours] = found.ours;
    candidates = [...found.ours.map(({ id }) => id), ...found.doubtful];
    holders = found.holders;
    if (ours && candidates.length === 1 && !isShared) {
      log.info(
        `${shownUrl(inputs)}: a create whose answer was lost has created ${ours.id}; this run continues with it`,
      );
      return { ours, holders };
    }
  }
  if (candidates.length > 0 || isShared) throw createDoubtful(lost, shownUrl(inputs), candidates);
  return { holders };
}

/** Looks once. */
async function lookOnce(
  tries: readonly LostTry[],
  lost: EndpointsError,
  { api, inputs, entries }: Claim,
  nonce: string | undefined,
): Promise<Found> {
  const { clock, serviceClock } = api.http;
  // If the service changed the URL or dropped the mark, the endpoint that the reply names may still be ours.
  const replied = lost instanceof ReplyError ? idSchema.safeParse(lost.reply).data?.id : undefined;
  const ours: LiveEndpoint[] = [];
  const doubtful: string[] = [];
  const holders: LiveEndpoint[] = [];
  const repliedNew: string[] = [];
  const earliest = (serviceClock.at(tries[0]?.sent ?? 0) ?? Number.NEGATIVE_INFINITY) - TOLERANCE;
  const latest = (serviceClock.at(tries.at(-1)?.lost ?? 0) ?? Number.NEGATIVE_INFINITY) + TOLERANCE;
  try {
    const reading = api.list.whole(clock.now());
    await reading.toEnd();

    const onOurUrl = onUrl(reading, inputs.url).map(({ id }) => id);
    for (const id of new Set([...onOurUrl, ...(replied === undefined ? [] : [replied])])) {
      if (entries.accounts.has(id)) continue;
      const live = await api.find(id);
      const created = live && createdAt(live);
      const isNew = created === undefined || created >= earliest;
      if (!live) {
        if (id !== replied) doubtful.push(id);
      } else if (nonce !== undefined && live.createdFor?.nonce === nonce) ours.push(live);
      else if (nonce === undefined && !live.createdFor && isWanted(live, inputs) && isNew) {
        if (created !== undefined && created <= latest) ours.push(live);
        else doubtful.push(id);
      } else if (urlOf(live) === inputs.url && inputs.poolingEnabled !== true) holders.push(live);
      else if (id === replied && !live.createdFor && live.type === "cloud" && isNew) repliedNew.push(id);
    }
    const unreadable = reading.skipped.filter(
      ({ url }) => url === undefined || normalizeUrl(url) === inputs.url,
    );
    doubtful.push(...unreadable.map(({ id }) => id ?? "one without an id"));
  } catch (error) {
    throw error instanceof EndpointsError ? createUnsettled(lost, error, shownUrl(inputs)) : error;
  }
  return { ours, doubtful: ours.length > 0 ? doubtful : [...doubtful, ...repliedNew], holders };
}

/**
 * The mark of a new create, with the time of the call; undefined, with a message, if the metadata cannot hold one.
 */
async function newMark({ api, inputs, log }: Claim, owner: Owner): Promise<(() => Mark) | undefined> {
  const { clock, serviceClock } = api.http;
  const nonce = randomNumber();
  const mark = () => {
    const now = serviceClock.at(clock.now());
    const time = now === undefined ? "unknown" : new Date(now).toISOString();
    return { ...owner, nonce, time };
  };
  if (withMark(inputs.metadata, mark()) === undefined) {
    log.info(
      `${shownUrl(inputs)}: is created without a mark (endpoints:mark), because its metadata is text or a list, or would get too long`,
    );
    return undefined;
  }
  // Any reply shows the service's clock. A failure of the list leaves it unknown.
  const reading = api.list.whole(0);
  if (serviceClock.at(clock.now()) === undefined)
    await reading.until(() => reading.pages > 0).catch(() => {});
  return mark;
}
