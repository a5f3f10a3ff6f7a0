import { ApiError, ConnectionError, EndpointsError, isOfService, ReplyError } from "./api/apiErrors";
import type { Moment } from "./api/clock";
import type { LiveEndpoint, Mark, Owner } from "./api/contract";
import { isAbout } from "./api/endpoints";
import { newNonce, withMark } from "./api/mark";
import { createdAt } from "./api/reading";
import { backOff } from "./api/retry";
import { normalizeUrl, urlOf } from "./api/url";
import { endpointFromWire, idSchema } from "./api/wire";
import {
  type Creation,
  findConflict,
  findLeftover,
  isWanted,
  mayPass,
  onUrl,
  takeOverOrRefuse,
} from "./conflicts";
import { CreateDoubtfulError, CreateUnsettledError } from "./errors";
import { LIST_LAG } from "./gone";
import { shownUrl } from "./markedSecrets";
import { managedInputs } from "./schema";
import { wireChange } from "./state";

/*
 * A create whose answer was lost may have happened. Sent again blindly it could make two. Given up, it could leave an
 * endpoint that is in no state. And what is found in its place may be another stack's. So the service is asked, more than
 * once, and what cannot be decided is reported to the user.
 */

/** A lost create is looked for after these waits, in milliseconds: its effect may come late, and the list may lag. */
const LOOK_AFTER = [0, 2_000, 2 * LIST_LAG - 2_000];

/** Looks more, where it depends on a second which of two it was. Each halves what is not known of the service's clock. */
const LOOKS_AT_THE_CLOCK = 5;

/** A refusal that may pass by itself is tried again after these waits, in milliseconds. */
const TRY_AGAIN_AFTER = [1_000, 2_000, 4_000];

/** An endpoint that is there now. */
interface Created {
  live: LiveEndpoint;
  /** Whether it was there before, so that what differs has to be changed. */
  leftover: boolean;
}

/** The endpoint exists; the reply held its id, and the rest of it cannot be read. */
export class UnreadableReply extends Error {
  constructor(
    readonly id: string,
    override readonly cause: ReplyError,
  ) {
    super(cause.message);
  }
}

/**
 * Creates an endpoint once, whatever happens to the answers.
 *
 * @throws what the service refused with; UserError where it cannot be decided what is ours, or the URL is taken;
 *   UnreadableReply where the endpoint is there and cannot be described.
 */
export async function createOnce(creation: Creation): Promise<Created> {
  const { api, settings, inputs, owner } = creation;
  const { clock } = api.http;
  const mark = owner && newMark(creation, owner);
  const given = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = wireChange(inputs, mark ? [...given, "metadata"] : given, mark);
  // The service does not refuse another member of a pool, so a leftover has to be looked for.
  const leftover = owner && inputs.poolingEnabled === true && (await findLeftover(creation, owner));
  if (leftover) return { live: leftover, leftover: true };

  const isOurs = ({ id, createdFor }: LiveEndpoint) =>
    !creation.isKnown(id) && (!mark || createdFor?.nonce === mark.nonce);
  let firstSent: number | undefined;
  let refused = 0;
  for (let sent = 1; ; sent++) {
    let error: unknown;
    try {
      return { live: await api.create(body, isOurs), leftover: false };
    } catch (thrown) {
      error = thrown;
    }
    const described = error instanceof ReplyError && (await describe(error, creation));
    if (described) return { live: described, leftover: false };
    if (isRefusal(error)) {
      const wait = mayPass(error) ? TRY_AGAIN_AFTER[refused++] : undefined;
      const taken = await findConflict(error, creation, mark, wait === undefined && refused > 0);
      if (taken) return { live: taken, leftover: true };
      if (wait === undefined) throw error;
      await clock.sleep(wait);
      continue;
    }
    if (!mayHaveHappened(error) || !(error instanceof EndpointsError)) throw error;

    firstSent ??= error.sentAt ?? clock.now();
    const { ours, holders } = await findLostCreate(firstSent, error, creation, mark);
    if (ours) return { live: ours, leftover: false };
    // A service that does not refuse a taken URL would make a second one. What is there may be ours after all, if the
    // service changed what it was given, or its clock is not the one of its replies.
    const taken = takeOverOrRefuse(error, holders, creation, mark);
    if (taken) return { live: taken, leftover: true };
    // It did not happen, and is sent again for as long as any other request would be.
    const elapsed = clock.now() - firstSent;
    const retryFor = settings.retryForSeconds * 1000;
    const wait = backOff({ sent, elapsed, retryFor, random: clock.random() });
    if (wait === undefined) throw error;
    await clock.sleep(wait);
  }
}

/** Whether a create that ended like this can have had its effect. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.wentOut;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing: an earlier attempt may have reached the service.
  return status >= 500 || status === 408 || (status === 429 && !isOfService(error));
}

/** Whether the service refused: perhaps since the URL is taken, whatever code it gives. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 409, 422].includes(error.status);

/** The endpoint of a reply that held its id, URL and type, and whose rest cannot be read. */
async function describe(
  error: ReplyError,
  { api, inputs, isKnown }: Creation,
): Promise<LiveEndpoint | undefined> {
  const { data } = idSchema.safeParse(error.reply);
  if (!data || !isAbout(error.reply, inputs.url) || isKnown(data.id)) return undefined;
  // What can be read is not ours.
  if (endpointFromWire.safeParse(error.reply).success) return undefined;
  try {
    const live = await api.find(data.id);
    return live && isAbout(live, inputs.url) ? live : undefined;
  } catch {
    throw new UnreadableReply(data.id, error);
  }
}

/** What a look for a lost create found. */
interface Found {
  /** The endpoint that is ours for certain. */
  ours?: LiveEndpoint;
  /** The ids of those for which it cannot be decided. */
  doubtful: string[];
  /** Others that hold the URL: members of a pool do not. */
  holders: LiveEndpoint[];
}

/**
 * The endpoint that our own lost create made, or what else has its URL.
 *
 * Ours has our URL and content, no other owner in this run, and was created between our first try and now by the service's
 * clock; with marks it carries our own, and without them none.
 *
 * @throws CreateDoubtfulError where that cannot be decided, naming the endpoints that it may be.
 */
async function findLostCreate(
  firstSent: number,
  lost: EndpointsError,
  creation: Creation,
  mark: Mark | undefined,
): Promise<Omit<Found, "doubtful">> {
  const { api, inputs, log } = creation;
  const { clock, serviceClock } = api.http;
  // A pool's members may all look the same, and one more of them is not refused.
  const isShared = inputs.poolingEnabled === true && mark === undefined;
  let found: Found = { doubtful: [], holders: [] };
  for (let looks = 0; looks < LOOK_AFTER.length + LOOKS_AT_THE_CLOCK; looks++) {
    const least = LOOK_AFTER[looks] ?? 0;
    if (looks >= LOOK_AFTER.length && (found.doubtful.length === 0 || isShared)) break;
    if (looks > 0) await clock.sleep(serviceClock.waitForNextSecond(least, clock.now()));
    found = await lookOnce(firstSent, lost, creation, mark);
    if (found.ours) {
      log.info(
        `${shownUrl(inputs)}: ${found.ours.id} is what a create made whose answer was lost; this run goes on with it`,
      );
      return found;
    }
  }
  const { doubtful } = found;
  if (doubtful.length > 0 || isShared) throw new CreateDoubtfulError(lost, shownUrl(inputs), doubtful);
  return found;
}

/** Looks once. */
async function lookOnce(
  firstSent: number,
  lost: EndpointsError,
  { api, inputs, isKnown }: Creation,
  mark: Mark | undefined,
): Promise<Found> {
  const { clock, serviceClock } = api.http;
  // What the reply named may be ours under another URL, or without its mark, if the service changed what it was given.
  const replied = lost instanceof ReplyError ? idSchema.safeParse(lost.reply).data?.id : undefined;
  const ours: LiveEndpoint[] = [];
  const doubtful: string[] = [];
  const holders: LiveEndpoint[] = [];
  const repliedNew: string[] = [];
  try {
    const reading = api.list.since(clock.now());
    await reading.until(() => reading.pages > 0);
    const [earliest, latest] = secondOf(serviceClock.at(firstSent));
    await reading.backTo(earliest);

    const onOurUrl = onUrl(reading, inputs.url).map(({ id }) => id);
    for (const id of new Set([...onOurUrl, ...(replied === undefined ? [] : [replied])])) {
      if (isKnown(id)) continue;
      const live = await api.find(id);
      const created = live && createdAt(live);
      const now = serviceClock.at(clock.now());
      const isTold = created !== undefined && now !== undefined && created <= now.latest;
      const isNew = !isTold || created >= earliest;
      if (!live) {
        if (id !== replied) doubtful.push(id);
      } else if (mark && live.createdFor?.nonce === mark.nonce) ours.push(live);
      else if (!mark && !live.createdFor && isWanted(live, inputs) && isNew) {
        if (isTold && created >= latest) ours.push(live);
        else doubtful.push(id);
      } else if (urlOf(live) === inputs.url && inputs.poolingEnabled !== true) holders.push(live);
      else if (id === replied && !live.createdFor && live.type === "cloud" && isNew) repliedNew.push(id);
    }
    const unreadable = reading.skipped.filter(
      ({ url }) => url === undefined || normalizeUrl(url) === inputs.url,
    );
    doubtful.push(...unreadable.map(({ id }) => id ?? "one without an id"));
  } catch (error) {
    throw error instanceof EndpointsError ? new CreateUnsettledError(lost, error, shownUrl(inputs)) : error;
  }
  // In a pool others may have the same URL and content, so nothing shows whose it is.
  const isShared = inputs.poolingEnabled === true && !mark;
  const [first, ...others] = ours;
  if (first && others.length === 0 && doubtful.length === 0 && !isShared)
    return { ours: first, doubtful, holders };
  if (!first) doubtful.push(...repliedNew);
  return { doubtful: [...ours.map(({ id }) => id), ...doubtful], holders };
}

/** Logs once for each resource whose metadata cannot hold a mark. */
function newMark({ inputs, log }: Creation, owner: Owner): Mark | undefined {
  const mark = { ...owner, nonce: newNonce() };
  if (withMark(inputs.metadata, mark) !== undefined) return mark;
  log.info(
    `${shownUrl(inputs)}: is created without a mark (endpoints:mark), since its metadata is text or a list, or would get too long`,
  );
  return undefined;
}

/** The first and the last second that a moment can lie in. */
function secondOf(moment: Moment | undefined): [earliest: number, latest: number] {
  if (!moment) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [Math.floor(moment.earliest / 1000) * 1000, Math.floor(moment.latest / 1000) * 1000];
}
