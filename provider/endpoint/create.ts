import { normalizeUrl } from "../../sdk/traffic-policy/index";
import {
  ApiError,
  ConnectionError,
  codeNumber,
  EndpointsError,
  isOfService,
  ReplyError,
  type UserError,
} from "../service/apiErrors";
import { Budget, createdAt } from "../service/clock";
import type { LiveEndpoint } from "../service/contract";
import { EVERYTHING } from "../service/list";
import { idSchema } from "../service/replySchemas";
import { urlOf } from "../service/url";
import { type Claim, equalMembers, isWanted } from "./adopt";
import {
  continuesWith,
  createDoubtful,
  createUnsettled,
  equalMember,
  refusedWithoutCode,
  urlLookup,
  urlTaken,
} from "./errors";
import { type Inputs, managedInputs } from "./fields";
import { wireFromInputs } from "./state";
import type { Write } from "./verify";

/*
 * An attempt to create an endpoint, or to move one to another URL, ends in one of three ways.
 *
 * - Made: the service has answered with our endpoint.
 * - Refused: the URL may be taken, by an endpoint that leaves it in this run, or by somebody else's.
 * - Lost: the attempt may have had an effect. Sending it again could make two endpoints, giving up could leave one that is in no
 *   state, and what is found on the URL may be another stack's. So the provider looks for it, three times.
 *
 * If the provider cannot decide, an error names the candidates. Without the service's code, a refusal may come from a gateway, and
 * the create may have had an effect nevertheless. Outside of pools, the URL shows that. In a pool, nothing is sent again.
 */

type Outcome =
  | { kind: "made"; live: LiveEndpoint }
  | { kind: "refused"; error: ApiError }
  | { kind: "lost"; error: EndpointsError };

/** The waits before each look for a lost create, in milliseconds: its effect may come late, and the list may lag. */
const LOOK_AFTER = [0, 2_000, 8_000];

/** How far `created_at` may be outside of the time in which a create was under way, in milliseconds. */
const TOLERANCE = 2_000;

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const PASSING: readonly unknown[] = [18006, 18009, 18016, 18017];

/** The waits before a request is sent again if its refusal may pass, in milliseconds. Nothing is sent more often. */
const TRY_AGAIN_AFTER = [1_000, 2_000, 4_000];

/** How long to wait for an endpoint that may leave the URL in this run, in milliseconds. */
const LONGEST_WAIT = 5_000;

/** How often the wait looks whether it has left. Takes no request. */
const LOOK_EVERY = 250;

/**
 * Creates an endpoint exactly once, even if answers are lost.
 *
 * @throws ApiError if the service refused; UserError if the URL is taken, or if it stays open which endpoint is ours.
 */
export async function createOnce(claim: Claim): Promise<Write> {
  const { api, inputs, holdings, entry } = claim;
  const sent = managedInputs.filter((name) => inputs[name] !== undefined);
  const body = wireFromInputs(inputs, sent);
  const equal = await equalMembers(claim);
  // A reply about an endpoint that an entry has is about another one.
  const isNew = ({ id }: LiveEndpoint) => !holdings.isOurs(id);
  const live = await sendUntilCertain(claim, (budget) => api.create(body, isNew, budget));
  // Refuses the second of two resources that both lost their answers and found one endpoint.
  holdings.add(live.id, entry, inputs);
  for (const member of equal) claim.log.warn(equalMember(member, claim.shownUrl));
  return { id: live.id, reply: live, sent, wanted: inputs };
}

/** What the attempts so far have shown. Times by this machine's clock, in milliseconds. */
interface Attempts {
  /** The time of the attempts, and of the waits between them. */
  budget: Budget;
  refusals: number;
  /** The time in which attempts were under way that may have had an effect; undefined if there was none. */
  underWay: UnderWay | undefined;
}

interface UnderWay {
  from: number;
  to: number;
}

/**
 * Sends a create, or the move of an endpoint, until its outcome is certain. Returns the endpoint of the reply, or the one that an
 * attempt has made nevertheless.
 */
export async function sendUntilCertain(
  claim: Claim,
  send: (budget: Budget) => Promise<LiveEndpoint>,
): Promise<LiveEndpoint> {
  const { clock, settings } = claim.api.http;
  const budget = new Budget(clock, settings.retryForSeconds * 1000);
  let from: number | undefined;
  for (let refusals = 0; ; ) {
    const outcome = await outcomeOf(send(budget), claim);
    // A gateway may refuse, without the service's code, what took effect.
    const isUnsigned = outcome.kind === "refused" && !isOfService(outcome.error);
    if (outcome.kind === "lost" || isUnsigned) from ??= outcome.error.sentAt ?? clock.now();
    const underWay = from === undefined ? undefined : { from, to: clock.now() };
    const attempts = { budget, refusals, underWay };
    switch (outcome.kind) {
      case "made":
        return outcome.live;
      case "lost": {
        const live = await afterLoss(claim, outcome.error, attempts);
        if (live) return live;
        break;
      }
      case "refused": {
        const live = await afterRefusal(claim, outcome.error, attempts);
        if (live) return live;
        refusals++;
      }
    }
  }
}

/** @throws Any other error, after which nothing can be done. */
async function outcomeOf(sending: Promise<LiveEndpoint>, { mover }: Claim): Promise<Outcome> {
  try {
    return { kind: "made", live: await sending };
  } catch (error) {
    const isCreate = mover === undefined;
    if (!(error instanceof EndpointsError)) throw error;
    if (isCreate && isLost(error)) return { kind: "lost", error };
    if (!(error instanceof ApiError)) throw error;
    if (isCreate || (mayBeTakenUrl(error) && !isForOtherReason(error))) return { kind: "refused", error };
    throw error;
  }
}

function isLost(error: EndpointsError): boolean {
  if (error instanceof ConnectionError) return error.wentOut;
  if (error instanceof ReplyError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  // A proxy's own 429 proves nothing: an earlier attempt may have reached the service.
  return status >= 500 || status === 408 || (status === 429 && !isOfService(error));
}

/**
 * The codes of refusals that are about something else than a taken URL: the form of the request or of the URL, the policy, another
 * text, the bindings, the plan or a limit of the account. Any other code may be that of a taken URL.
 */
const OTHER_REASONS: readonly [from: number, to: number][] = [
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

/** With most codes, and without any, the reason of these may be a taken URL. */
const mayBeTakenUrl = ({ status }: ApiError): boolean => [400, 409, 422].includes(status);

function isForOtherReason(error: ApiError): boolean {
  const code = isOfService(error) ? codeNumber(error) : undefined;
  return code !== undefined && OTHER_REASONS.some(([from, to]) => from <= code && code <= to);
}

/**
 * Looks for the endpoint that a lost create has made.
 *
 * @returns The endpoint; undefined if the create certainly had no effect and can be sent again.
 * @throws The loss, if the budget is spent; UserError that names the candidates, or the holder of the URL.
 */
async function afterLoss(
  claim: Claim,
  lost: EndpointsError,
  { budget, underWay }: Attempts,
): Promise<LiveEndpoint | undefined> {
  const { inputs, holdings, shownUrl, log } = claim;
  const isPooled = inputs.poolingEnabled === true;
  let found: Found = { ours: [], doubtful: [], holders: [] };
  for (const wait of LOOK_AFTER) {
    await budget.wait(wait);
    found = await findLostCreate(claim, lost, underWay, { isLast: wait === LOOK_AFTER.at(-1) });
    const [live, ...others] = found.ours;
    // Members of a pool may all be equal.
    if (live && others.length + found.doubtful.length === 0 && !isPooled) {
      log.warn(continuesWith(live.id, "a lost answer", shownUrl));
      return live;
    }
  }
  // A reply that cannot be used may still name an endpoint that exists.
  const named = lost instanceof ReplyError ? idSchema.safeParse(lost.reply).data?.id : undefined;
  const candidates = new Set([...found.ours.map(({ id }) => id), ...found.doubtful]);
  if (named !== undefined && !holdings.isOurs(named)) candidates.add(named);
  // The service accepts one more member of a pool, so nothing is sent again.
  if (candidates.size > 0 || named !== undefined || isPooled)
    throw createDoubtful(lost, shownUrl, claim.stack, [...candidates]);
  const holder = found.holders.find(({ id }) => !holdings.isOurs(id));
  if (holder) throw taken(lost, holder, claim);
  if (budget.isSpent) throw lost;
  return undefined;
}

/**
 * Decides what follows from a refusal.
 *
 * @returns The endpoint that the refused create has made nevertheless; undefined if the request can be sent again.
 * @throws The refusal, if nothing holds the URL; UserError that names the holder and the ways out.
 */
async function afterRefusal(
  claim: Claim,
  refusal: ApiError,
  attempts: Attempts,
): Promise<LiveEndpoint | undefined> {
  const { inputs, mover, shownUrl, log } = claim;
  const { budget, refusals, underWay } = attempts;
  const isCreateInPool = mover === undefined && inputs.poolingEnabled === true;
  // A gateway may have refused it after it took effect, and the service would accept one more member.
  if (isCreateInPool && !isOfService(refusal)) throw refusedWithoutCode(refusal, shownUrl);
  // After an attempt that may have had an effect, a limit of the account may be reached by our own endpoint.
  const isClear = underWay === undefined && isForOtherReason(refusal);
  if (isClear || !mayBeTakenUrl(refusal)) throw refusal;
  const mayPass = refusal.status === 409 || PASSING.includes(codeNumber(refusal));
  const wait = mayPass ? TRY_AGAIN_AFTER[refusals] : undefined;
  // A filter may omit the holder, so after several refusals the last look reads the whole list.
  const isLast = wait === undefined && refusals > 0;
  const listing = isLast
    ? claim.api.list.select(EVERYTHING, "fromNow")
    : claim.api.list.onUrl(inputs.url, "fromNow");
  const { ours, holders } = await listing
    .then((listed) => classify(claim, listed, underWay))
    .catch((why: unknown) => {
      // The refusal is reported even if the holder cannot be named.
      throw why instanceof EndpointsError ? urlLookup(refusal, why, shownUrl) : why;
    });
  const [live, ...others] = ours;
  if (live && others.length === 0 && mover === undefined && !isCreateInPool) {
    log.warn(continuesWith(live.id, `a refusal (status ${refusal.status})`, shownUrl));
    return live;
  }
  const holder = [...holders, ...ours].find((live) => holds(live, inputs));
  if (holder) {
    if (refusals === TRY_AGAIN_AFTER.length || !(await leaves(holder, claim)))
      throw taken(refusal, holder, claim);
  } else {
    if (wait === undefined) throw refusal;
    await budget.wait(wait);
  }
  return undefined;
}

/** What a look finds on the URL. */
interface Found {
  /** What passes the test of a create of ours. */
  ours: LiveEndpoint[];
  /** The ids of those that may be ours. */
  doubtful: string[];
  /** The others that keep the URL from this resource. */
  holders: LiveEndpoint[];
}

/**
 * Looks for a create that may have had an effect. Services list the newest first, so only the last look reads the whole list.
 *
 * @throws UserError if the list, or an endpoint on it, cannot be read.
 */
async function findLostCreate(
  claim: Claim,
  unclear: EndpointsError,
  underWay: UnderWay | undefined,
  { isLast }: { isLast: boolean },
): Promise<Found> {
  const { api, inputs, shownUrl } = claim;
  try {
    const reading = api.list.whole("fromNow");
    await (isLast ? reading.toEnd() : reading.firstPage());
    const found = await classify(claim, [...reading.endpoints.values()], underWay);
    for (const { id = "one without an id", url } of reading.skipped)
      if (url === undefined || normalizeUrl(url) === inputs.url) found.doubtful.push(id);
    return found;
  } catch (why) {
    throw why instanceof EndpointsError ? createUnsettled(unclear, why, shownUrl, claim.stack) : why;
  }
}

/** What listed endpoints are to this resource. Each is read by id, which has every field, and may be newer or older. */
async function classify(
  claim: Claim,
  listed: LiveEndpoint[],
  underWay: UnderWay | undefined,
): Promise<Found> {
  const { api, inputs, holdings, mover } = claim;
  const found: Found = { ours: [], doubtful: [], holders: [] };
  for (const item of listed) {
    if (urlOf(item) !== inputs.url || item.id === mover || holdings.isGone(item.id)) continue;
    const live = await api.find(item.id);
    const canBeOurs = underWay !== undefined && !holdings.isOurs(item.id);
    if (!live) {
      if (canBeOurs) found.doubtful.push(item.id);
      continue;
    }
    const isOurs = canBeOurs && isOfCreate(claim, underWay, live);
    if (isOurs) found.ours.push(live);
    else if (isOurs === undefined) found.doubtful.push(item.id);
    if (!isOurs && holds(live, inputs)) found.holders.push(live);
  }
  return found;
}

/**
 * Whether a create of ours has made this endpoint: it has our URL and content, and was created while the create was under way, by
 * the service's clock. Undefined if that is not known.
 */
function isOfCreate({ api, inputs }: Claim, { from, to }: UnderWay, live: LiveEndpoint): boolean | undefined {
  if (!isWanted(live, inputs)) return false;
  const created = createdAt(live);
  const [earliest, latest] = [api.http.serviceClock.at(from), api.http.serviceClock.at(to)];
  if (created === undefined || earliest === undefined || latest === undefined) return undefined;
  return created >= earliest - TOLERANCE && created <= latest + TOLERANCE;
}

/** Whether an endpoint keeps the URL from this resource. The members of a pool share their URL. */
const holds = (live: LiveEndpoint, inputs: Inputs): boolean =>
  urlOf(live) === inputs.url && !(inputs.poolingEnabled === true && live.poolingEnabled === true);

function taken(error: EndpointsError, holder: LiveEndpoint, claim: Claim): UserError {
  const { inputs, holdings, shownUrl, stack, mover } = claim;
  const { id } = holder;
  return urlTaken(error, holder, shownUrl, {
    stack,
    isOfMove: mover !== undefined,
    stays: holdings.stays(id),
    isItsOwn: mover === undefined && holdings.isItsOwn(id, inputs),
    isOurs: holdings.isOurs(id),
    // An endpoint that differs from the program may be somebody else's, so no other message names it.
    adoptable: isWanted(holder, inputs) ? holdings.blocks(id) : [id],
  });
}

/**
 * Waits for an endpoint that may leave the URL in this run. The engine may ask for that only after this call, so an endpoint that
 * this process has not met yet is waited for, too. The time in which its own request is on its way does not count.
 */
async function leaves({ id, type }: LiveEndpoint, { api, inputs, holdings }: Claim): Promise<boolean> {
  if (type !== "cloud") return false;
  for (let waited = 0; waited < LONGEST_WAIT && !holdings.hasLeft(id); ) {
    if (holdings.stays(id)) return false;
    await api.http.clock.sleep(LOOK_EVERY);
    if (!holdings.isMoving(id)) waited += LOOK_EVERY;
  }
  if (holdings.hasLeft(id)) return true;
  // Another process of this run may have moved or deleted it.
  const live = await api.find(id);
  return live === undefined || urlOf(live) !== inputs.url;
}
