import {
  ApiError,
  ConnectionError,
  codeNumber,
  EndpointsError,
  hasServiceCode,
  ReplyError,
  type UserError,
} from "../service/apiErrors";
import { createdAt } from "../service/clock";
import type { Endpoint } from "../service/contract";
import { ALL_ENDPOINTS, endpointsOfUrl } from "../service/list";
import { urlOf } from "../service/url";
import { matchesInputs } from "./adopt";
import { deletionKept, recoveredCreate, uncertainCreate, urlTaken } from "./errors";
import { managedInputs } from "./fields";
import { wireFromInputs } from "./state";
import type { AcceptedWrite, WriteContext } from "./write";

/*
 * An attempt to create an endpoint, or to move one to another URL, can fail in two ways that need a look at the URL.
 *
 * - Refused: another endpoint may have the URL, perhaps one that this run moves or deletes. So the request is sent again a few times.
 * - Lost: the create may have had an effect. A URL belongs to one endpoint, so a second attempt is safe, except in a pool, where
 *   the service would accept one more member.
 */

/** The waits before each look for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOKUP_DELAYS = [0, 10_000];

/** How often a create is sent whose answers are lost. */
const MAX_ATTEMPTS = 3;

/**
 * The waits before a refused request is sent again, in milliseconds: time for another resource of the run to leave the URL. In a list
 * by index that grows at its front, each one waits for its neighbour.
 */
const RETRY_DELAYS = [1_000, 1_000, 1_000, 1_000, 1_000, 2_000];

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const TRANSIENT_CODES: readonly unknown[] = [18006, 18009, 18016, 18017];

/** How far `created_at` may be before a lost attempt, or after the look that shows it, in milliseconds: a `Date` has whole seconds. */
const CLOCK_TOLERANCE = 2_000;

/**
 * Creates an endpoint exactly once, even if answers are lost.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if nothing shows whether the create had an effect.
 */
export async function createOnce(context: WriteContext): Promise<AcceptedWrite> {
  const { api, inputs, owners } = context;
  const sent = managedInputs.filter((name) => inputs[name] !== undefined);
  // If the reply names an endpoint that is already in the state, it is not the endpoint that this create made.
  const isNew = ({ id }: Endpoint) => !owners.hasEntry(id);
  const live = await sendUntilCertain(context, () => api.create(wireFromInputs(inputs, sent), isNew));
  return { id: live.id, reply: live, sent, wanted: inputs };
}

/** What the attempts so far have shown. */
interface Attempts {
  losses: number;
  refusals: number;
  /** When the first attempt began that may have had an effect, by this machine's clock; undefined without such an attempt. */
  firstLost: number | undefined;
}

/**
 * Sends a create, or the move of an endpoint, until its outcome is certain. Returns the endpoint of the reply, or the one that a lost
 * create made nevertheless.
 */
export async function sendUntilCertain(
  context: WriteContext,
  send: () => Promise<Endpoint>,
): Promise<Endpoint> {
  const attempts: Attempts = { losses: 0, refusals: 0, firstLost: undefined };
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof EndpointsError)) throw error;
      const live = await endpointOrRetry(error, context, attempts);
      if (live) return live;
    }
  }
}

/** Returns the endpoint that the failed request made; undefined if the request can be sent again. Otherwise throws. */
async function endpointOrRetry(
  error: EndpointsError,
  context: WriteContext,
  attempts: Attempts,
): Promise<Endpoint | undefined> {
  const { inputs, updatedId } = context;
  const isCreate = updatedId === undefined;
  const isLoss = isCreate && mayHaveHadEffect(error);
  const lacksServiceCode = error instanceof ApiError && !hasServiceCode(error);
  if (isCreate && inputs.poolingEnabled === true && (isLoss || lacksServiceCode))
    throw uncertainCreate(error, context);
  if (isLoss) {
    attempts.firstLost ??= error.sentAt;
    return resolveLoss(error, context, attempts);
  }
  if (error instanceof ApiError && [400, 409, 422].includes(error.status))
    return resolveRefusal(error, context, attempts);
  throw error;
}

/** Whether a failed create may have had an effect. */
function mayHaveHadEffect(error: EndpointsError): boolean {
  if (error instanceof ConnectionError) return error.maybeSent;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing.
  return status >= 500 || status === 408 || (status === 429 && !hasServiceCode(error));
}

async function resolveLoss(
  lost: EndpointsError,
  context: WriteContext,
  attempts: Attempts,
): Promise<Endpoint | undefined> {
  for (const wait of LOOKUP_DELAYS) {
    await context.api.http.clock.sleep(wait);
    const live = await findOnUrl(context, uncertainCreate(lost, context), {
      readsWholeList: wait > 0,
    });
    if (live && isOfLostCreate(live, lost, context, attempts)) return live;
    if (live) throw takenBy(live, lost, context);
  }
  // The service has answered with success, so another attempt could make a second endpoint.
  if (lost instanceof ReplyError) throw uncertainCreate(lost, context);
  attempts.losses++;
  if (attempts.losses === MAX_ATTEMPTS) throw lost;
  return undefined;
}

async function resolveRefusal(
  refusal: ApiError,
  context: WriteContext,
  attempts: Attempts,
): Promise<Endpoint | undefined> {
  const number = attempts.refusals++;
  const wait = RETRY_DELAYS[number];
  if (number === 0 || wait === undefined) {
    const live = await findOnUrl(context, refusal, { readsWholeList: wait === undefined });
    if (live && isOfLostCreate(live, refusal, context, attempts)) return live;
    if (live && wait === undefined) throw takenBy(live, refusal, context);
    const isTransient = refusal.status === 409 || TRANSIENT_CODES.includes(codeNumber(refusal));
    // If the last look finds nobody, the URL is free now, so the request is sent once more.
    const isRepeated = wait === undefined ? number === RETRY_DELAYS.length : isTransient;
    if (!live && !isRepeated)
      throw attempts.firstLost === undefined ? refusal : uncertainCreate(refusal, context);
  }
  await context.api.http.clock.sleep(wait ?? 0);
  return undefined;
}

/**
 * The endpoint that keeps the URL from this resource, of any type. Members of the same pool share the URL, so they are left out.
 *
 * @param options Whether to read the whole list: a filtered one may omit the endpoint.
 */
async function findOnUrl(
  { api, inputs, updatedId }: WriteContext,
  failure: UserError,
  { readsWholeList } = { readsWholeList: false },
): Promise<Endpoint | undefined> {
  const selection = readsWholeList ? ALL_ENDPOINTS : endpointsOfUrl(inputs.url);
  const listed = await api.list.select(selection, "fresh").catch((why: unknown) => {
    // The user needs the first failure, also if what holds the URL cannot be found out.
    throw why instanceof EndpointsError ? failure : why;
  });
  const isShared = ({ poolingEnabled }: Endpoint) => inputs.poolingEnabled === true && poolingEnabled;
  return listed.find((live) => urlOf(live) === inputs.url && live.id !== updatedId && !isShared(live));
}

/**
 * Whether a lost create of this resource made the endpoint: no entry of this run has it, it has exactly the resource's inputs, and by
 * the service's clock it is no older than the create. Then a warning names it.
 *
 * @throws UserError if the service's clock proves nothing, because it is not known, or is before the endpoint's creation.
 */
function isOfLostCreate(
  live: Endpoint,
  failure: EndpointsError,
  context: WriteContext,
  { firstLost }: Attempts,
): boolean {
  const { api, inputs, owners, log } = context;
  if (firstLost === undefined || owners.hasEntry(live.id) || !matchesInputs(live, inputs)) return false;
  const [created, clock] = [createdAt(live), api.http.serviceClock];
  if (created === undefined || clock === undefined || created > clock.date + CLOCK_TOLERANCE)
    throw uncertainCreate(failure, context);
  if (created < firstLost + clock.offset - CLOCK_TOLERANCE) return false;
  log.warn(recoveredCreate(live.id, context));
  return true;
}

function takenBy(live: Endpoint, failure: EndpointsError, context: WriteContext): UserError {
  const { inputs, owners, updatedId } = context;
  const isCreate = updatedId === undefined;
  // After a rename without an alias, it is the resource's own endpoint, which `--continue-on-error` would delete after the failure.
  if (isCreate) owners.keepFromDeletion(live.id, deletionKept(live.id));
  return urlTaken(failure, live, context, {
    isCreate,
    isWanted: owners.isWanted(live.id),
    isOwn: isCreate && owners.isOwn(live.id, inputs),
  });
}
