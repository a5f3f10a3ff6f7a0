import { normalizeUrl } from "../../sdk/traffic-policy/data/index";
import {
  ApiError,
  ConnectionError,
  codeNumber,
  EndpointsError,
  hasServiceCode,
  ReplyError,
  type UserError,
} from "../service/apiErrors";
import { createdAt, TimeBudget } from "../service/clock";
import type { Endpoint } from "../service/contract";
import { ALL_ENDPOINTS } from "../service/list";
import { idSchema } from "../service/replySchemas";
import { urlOf } from "../service/url";
import { findEqualMembers, matchesInputs, type WriteContext } from "./adopt";
import {
  createAmbiguous,
  createUnverified,
  equalMemberExists,
  recoveredCreate,
  refusedWithoutCode,
  urlLookup,
  urlTaken,
} from "./errors";
import { type Inputs, managedInputs } from "./fields";
import { wireFromInputs } from "./state";
import type { AcceptedWrite } from "./verify";

/*
 * An attempt to create an endpoint, or to move one to another URL, ends in one of three ways.
 *
 * - Made: the service has answered with our endpoint.
 * - Refused: the URL may be taken, by an endpoint that this run moves or deletes later, or by an endpoint of somebody else.
 * - Lost: the attempt may have had an effect. A second attempt could make a second endpoint, and giving up could leave an endpoint
 *   that is in no state. So the provider looks three times for the endpoint. An endpoint on the URL may also be another stack's.
 *
 * If the provider cannot decide, an error names the candidates. A refusal without the service's code may come from a gateway, after
 * the create took effect. Outside of pools, a look at the URL decides. In a pool, nothing is sent again.
 */

type Outcome =
  | { kind: "made"; live: Endpoint }
  | { kind: "refused"; error: ApiError }
  | { kind: "lost"; error: EndpointsError };

/** The waits before each search for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOKUP_DELAYS = [0, 2_000, 8_000];

/** How far `created_at` may be outside of the time in which a create was under way, in milliseconds. */
const CLOCK_TOLERANCE = 2_000;

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const TRANSIENT_CODES: readonly unknown[] = [18006, 18009, 18016, 18017];

/** The waits before a request is sent again after a transient refusal, in milliseconds. After the last wait it is sent once more. */
const RETRY_DELAYS = [1_000, 2_000, 4_000];

/** How long to wait for an endpoint that may leave the URL in this run, in milliseconds. */
const MAX_WAIT_FOR_URL = 5_000;

/** The polling interval of that wait, in milliseconds. A poll looks at memory, and sends nothing. */
const POLLING_INTERVAL = 250;

/**
 * Creates an endpoint exactly once, even if answers are lost.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if nothing shows which endpoint the create made.
 */
export async function createOnce(context: WriteContext): Promise<AcceptedWrite> {
  const { api, inputs, runRecord, entry } = context;
  const sent = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = wireFromInputs(inputs, sent);
  const equal = await findEqualMembers(context);
  // If the reply names an endpoint that is already in the state, it is not the endpoint that this create made.
  const isNew = ({ id }: Endpoint) => !runRecord.wasMetInState(id);
  const live = await sendUntilCertain(context, (budget) => api.create(body, isNew, budget));
  // Refuses the second of two resources that both lost their answers and found one endpoint.
  runRecord.recordNewEntry(live.id, entry, inputs);
  for (const member of equal) context.log.warn(equalMemberExists(member, context.displayUrl));
  return { id: live.id, reply: live, sent, wanted: inputs };
}

/** What the attempts so far have shown. Times by this machine's clock, in milliseconds. */
interface Attempts {
  /** The time of the attempts, and of the waits between them. */
  budget: TimeBudget;
  refusals: number;
  /** The time during which attempts that may have had an effect were under way; undefined without such an attempt. */
  period: AttemptPeriod | undefined;
}

interface AttemptPeriod {
  from: number;
  to: number;
}

/**
 * Sends a create, or the move of an endpoint, until its outcome is certain. Returns the endpoint of the reply, or the endpoint that
 * a lost or refused attempt made nevertheless.
 */
export async function sendUntilCertain(
  context: WriteContext,
  send: (budget: TimeBudget) => Promise<Endpoint>,
): Promise<Endpoint> {
  const { clock, settings } = context.api.http;
  const budget = new TimeBudget(clock, settings.retryForSeconds * 1000);
  let period: AttemptPeriod | undefined;
  for (let refusals = 0; ; ) {
    const outcome = await outcomeOf(send(budget), context);
    // A refusal without the service's code may come from a gateway, after the request took effect.
    const lacksServiceCode = outcome.kind === "refused" && !hasServiceCode(outcome.error);
    if (outcome.kind === "lost" || lacksServiceCode)
      period = { from: period?.from ?? outcome.error.sentAt ?? clock.now(), to: clock.now() };
    const attempts = { budget, refusals, period };
    switch (outcome.kind) {
      case "made":
        return outcome.live;
      case "lost": {
        const live = await resolveLoss(context, outcome.error, attempts);
        if (live) return live;
        break;
      }
      case "refused": {
        const live = await resolveRefusal(context, outcome.error, attempts);
        if (live) return live;
        refusals++;
      }
    }
  }
}

/** @throws Any error that is no outcome, and ends the operation. */
async function outcomeOf(sending: Promise<Endpoint>, { updatedId }: WriteContext): Promise<Outcome> {
  try {
    return { kind: "made", live: await sending };
  } catch (error) {
    const isCreate = updatedId === undefined;
    if (!(error instanceof EndpointsError)) throw error;
    if (isCreate && isLost(error)) return { kind: "lost", error };
    if (!(error instanceof ApiError)) throw error;
    if (isCreate || (mayMeanTakenUrl(error) && !hasOtherReason(error))) return { kind: "refused", error };
    throw error;
  }
}

function isLost(error: EndpointsError): boolean {
  if (error instanceof ConnectionError) return error.maybeSent;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing: an earlier attempt may have reached the service.
  return status >= 500 || status === 408 || (status === 429 && !hasServiceCode(error));
}

/**
 * The codes of refusals with another reason than a taken URL: the form of the request or of the URL, the policy, another text, the
 * bindings, the plan or a limit of the account. Any other code may mean that the URL is taken.
 */
const CODES_OF_OTHER_REASONS: readonly [from: number, to: number][] = [
  [210, 218],
  [249, 249],
  [2200, 2299],
  [15005, 15010],
  [18002, 18005],
  [18008, 18008],
  [18010, 18013],
  [18015, 18015],
  [18018, 18023],
];

/** These statuses may mean that the URL is taken, whatever the code. */
const mayMeanTakenUrl = ({ status }: ApiError): boolean => [400, 409, 422].includes(status);

function hasOtherReason(error: ApiError): boolean {
  const code = hasServiceCode(error) ? codeNumber(error) : undefined;
  return code !== undefined && CODES_OF_OTHER_REASONS.some(([from, to]) => from <= code && code <= to);
}

/**
 * Looks for the endpoint that a lost create has made.
 *
 * @returns The endpoint; undefined if the create certainly had no effect and can be sent again.
 * @throws The loss, if the budget is spent; UserError that names the candidates, or the holder of the URL.
 */
async function resolveLoss(
  context: WriteContext,
  lost: EndpointsError,
  { budget, period }: Attempts,
): Promise<Endpoint | undefined> {
  const { inputs, runRecord, displayUrl, log } = context;
  const isPooled = inputs.poolingEnabled === true;
  let found: Findings = { own: [], undecided: [], holders: [] };
  for (const wait of LOOKUP_DELAYS) {
    await budget.wait(wait);
    found = await findLostCreate(context, lost, period, { isLast: wait === LOOKUP_DELAYS.at(-1) });
    const [live, ...others] = found.own;
    // Members of a pool may all be equal.
    if (live && others.length + found.undecided.length === 0 && !isPooled) {
      log.warn(recoveredCreate(live.id, undefined, displayUrl));
      return live;
    }
  }
  // A reply that cannot be used may still name an endpoint that exists.
  const named = lost instanceof ReplyError ? idSchema.safeParse(lost.reply).data?.id : undefined;
  const candidates = new Set([...found.own.map(({ id }) => id), ...found.undecided]);
  if (named !== undefined && !runRecord.wasMetInState(named)) candidates.add(named);
  // The service accepts one more member of a pool, so nothing is sent again.
  if (candidates.size > 0 || named !== undefined || isPooled)
    throw createAmbiguous(lost, displayUrl, context.stack, [...candidates]);
  const holder = found.holders.find(({ id }) => !runRecord.wasMetInState(id));
  if (holder) throw takenUrlError(lost, holder, context);
  if (budget.isSpent) throw lost;
  return undefined;
}

/**
 * Decides what follows from a refusal.
 *
 * @returns The endpoint that the refused create has made nevertheless; undefined if the request can be sent again.
 * @throws The refusal, if nothing holds the URL; UserError that names the holder and the ways out.
 */
async function resolveRefusal(
  context: WriteContext,
  refusal: ApiError,
  attempts: Attempts,
): Promise<Endpoint | undefined> {
  const { inputs, updatedId, displayUrl, log } = context;
  const { budget, refusals, period } = attempts;
  const isCreateInPool = updatedId === undefined && inputs.poolingEnabled === true;
  // A gateway may have refused the create after it took effect, and the service would accept one more member.
  if (isCreateInPool && !hasServiceCode(refusal)) throw refusedWithoutCode(refusal, displayUrl);
  // After an attempt that may have had an effect, a limit of the account may be reached by our own endpoint.
  const isFinal = period === undefined && hasOtherReason(refusal);
  if (isFinal || !mayMeanTakenUrl(refusal)) throw refusal;
  const isTransient = refusal.status === 409 || TRANSIENT_CODES.includes(codeNumber(refusal));
  const wait = isTransient ? RETRY_DELAYS[refusals] : undefined;
  // A filtered list may omit the holder, so after several refusals the last search reads the whole list.
  const isLast = wait === undefined && refusals > 0;
  const listing = isLast
    ? context.api.list.select(ALL_ENDPOINTS, "fresh")
    : context.api.list.byUrl(inputs.url, "fresh");
  const { own, holders } = await listing
    .then((listed) => classify(context, listed, period))
    .catch((why: unknown) => {
      // The user needs the refusal, also if the holder cannot be named.
      throw why instanceof EndpointsError ? urlLookup(refusal, why, displayUrl) : why;
    });
  const [live, ...others] = own;
  if (live && others.length === 0 && updatedId === undefined && !isCreateInPool) {
    log.warn(recoveredCreate(live.id, refusal.status, displayUrl));
    return live;
  }
  const holder = [...holders, ...own].find((live) => holdsUrlOf(live, inputs));
  if (holder) {
    if (refusals === RETRY_DELAYS.length || !(await waitForUrl(holder, context)))
      throw takenUrlError(refusal, holder, context);
  } else {
    if (wait === undefined) throw refusal;
    await budget.wait(wait);
  }
  return undefined;
}

/** What a search finds on the URL. */
interface Findings {
  /** The endpoints that this resource's create made (`wasMadeByCreate`). */
  own: Endpoint[];
  /** The ids of endpoints that the create may have made. */
  undecided: string[];
  /** The other endpoints, which keep the URL from this resource. */
  holders: Endpoint[];
}

/**
 * Looks for the endpoint of a create that may have had an effect. Services list the newest first, so only the last search reads the
 * whole list.
 *
 * @throws UserError if the list, or an endpoint on it, cannot be read.
 */
async function findLostCreate(
  context: WriteContext,
  lost: EndpointsError,
  period: AttemptPeriod | undefined,
  { isLast }: { isLast: boolean },
): Promise<Findings> {
  const { api, inputs, displayUrl } = context;
  try {
    const listing = api.list.fullListing("fresh");
    await (isLast ? listing.readToEnd() : listing.readFirstPage());
    const found = await classify(context, [...listing.endpoints.values()], period);
    for (const { id = "one without an id", url } of listing.skipped)
      if (url === undefined || normalizeUrl(url) === inputs.url) found.undecided.push(id);
    return found;
  } catch (why) {
    throw why instanceof EndpointsError ? createUnverified(lost, why, displayUrl, context.stack) : why;
  }
}

/** Sorts the listed endpoints on the resource's URL. Each of them is read by id, because a list may omit fields, or lag. */
async function classify(
  context: WriteContext,
  listed: Endpoint[],
  period: AttemptPeriod | undefined,
): Promise<Findings> {
  const { api, inputs, runRecord, updatedId } = context;
  const found: Findings = { own: [], undecided: [], holders: [] };
  for (const item of listed) {
    if (urlOf(item) !== inputs.url || item.id === updatedId || runRecord.isGone(item.id)) continue;
    const live = await api.find(item.id);
    const canBeOwn = period !== undefined && !runRecord.wasMetInState(item.id);
    if (!live) {
      if (canBeOwn) found.undecided.push(item.id);
      continue;
    }
    const isOwn = canBeOwn && wasMadeByCreate(context, period, live);
    if (isOwn) found.own.push(live);
    else if (isOwn === undefined) found.undecided.push(item.id);
    if (!isOwn && holdsUrlOf(live, inputs)) found.holders.push(live);
  }
  return found;
}

/**
 * Whether this resource's create made the endpoint: it has the URL and content of the resource, and by the service's clock it was
 * created while the create was under way. Undefined if a time is not known.
 */
function wasMadeByCreate(
  { api, inputs }: WriteContext,
  { from, to }: AttemptPeriod,
  live: Endpoint,
): boolean | undefined {
  if (!matchesInputs(live, inputs)) return false;
  const created = createdAt(live);
  const [earliest, latest] = [api.http.serviceClock.at(from), api.http.serviceClock.at(to)];
  if (created === undefined || earliest === undefined || latest === undefined) return undefined;
  return created >= earliest - CLOCK_TOLERANCE && created <= latest + CLOCK_TOLERANCE;
}

/** Whether an endpoint keeps the URL from this resource. Members of one pool do not. */
const holdsUrlOf = (live: Endpoint, inputs: Inputs): boolean =>
  urlOf(live) === inputs.url && !(inputs.poolingEnabled === true && live.poolingEnabled === true);

function takenUrlError(error: EndpointsError, holder: Endpoint, context: WriteContext): UserError {
  const { inputs, runRecord, displayUrl, stack, updatedId } = context;
  const { id } = holder;
  return urlTaken(error, holder, displayUrl, {
    stack,
    isOfMove: updatedId !== undefined,
    keepsItsUrl: runRecord.keepsItsUrl(id),
    isOwnEndpoint: updatedId === undefined && runRecord.isOwnEndpoint(id, inputs),
    wasMetInState: runRecord.wasMetInState(id),
    // An endpoint that differs from the program may be somebody else's, so only the message about its own URL names it.
    adoptable: matchesInputs(holder, inputs) ? runRecord.recordUrlHolder(id) : [id],
  });
}

/**
 * Waits for an endpoint that may leave the URL in this run. The engine may ask for that only after this call, so the wait includes
 * endpoints that this process has not met yet. The time during which the endpoint's own request is under way does not count.
 */
async function waitForUrl(
  { id, type }: Endpoint,
  { api, inputs, runRecord }: WriteContext,
): Promise<boolean> {
  if (type !== "cloud") return false;
  for (let waited = 0; waited < MAX_WAIT_FOR_URL && !runRecord.hasFreedItsUrl(id); ) {
    if (runRecord.keepsItsUrl(id)) return false;
    await api.http.clock.sleep(POLLING_INTERVAL);
    if (!runRecord.hasRequestInFlight(id)) waited += POLLING_INTERVAL;
  }
  if (runRecord.hasFreedItsUrl(id)) return true;
  // Another process of this run may have moved or deleted it.
  const live = await api.find(id);
  return live === undefined || urlOf(live) !== inputs.url;
}
