import type { WireEndpoint } from "../../../provider/api/contract";
import type { RecordedRequest } from "../types";
import type { Behaviour } from "./behaviour";
import { Random } from "./random";
import { MAX_PAGE, type Operation } from "./routes";
import { type Fault, type Handling, type Match, matches, type ScriptedReply, type Target } from "./script";
import { completeSeed } from "./seeds";
import { ServiceError } from "./serviceErrors";
import { readCreate } from "./serviceRules";

export interface DisturbOptions {
  /** The seed, 32 bits. The same seed and the same sequence of requests give the same faults. */
  seed: number;
  /** The probability that a matching request gets a fault, from 0 to 1. */
  probability: number;
  /** The kinds of faults. Those that apply to a request are equally likely. Default: `faultKinds`. */
  kinds?: readonly FaultKind[];
  /** The requests that can get faults. Default: all. */
  match?: Match;
  /** The maximum number of faults. Default: no limit. */
  most?: number;
}

/** A fault that `disturb` injected. */
export interface RecordedFault {
  kind: FaultKind;
  method: string;
  path: string;
  /** Whether the request took effect. */
  committed: boolean;
}

/** Draws a fault for a request. */
export type Disturbance = (target: Omit<Target, "random" | "repeated">) => Handling | undefined;

/** @throws RangeError if the probability is not from 0 to 1. */
export function disturbance(options: DisturbOptions, log: RecordedFault[]): Disturbance {
  const { seed, probability, kinds = faultKinds, match = () => true } = options;
  if (!(probability >= 0 && probability <= 1))
    throw new RangeError(`probability must be from 0 to 1, not ${probability}`);
  let { most: left = Number.POSITIVE_INFINITY } = options;
  const [random, repeated] = [new Random(seed), new Set<string>()];
  return (target) => {
    if (left <= 0 || !matches(match, target.record) || random.next() >= probability) return undefined;
    const fault = drawFault(kinds, { ...target, random, repeated });
    if (!fault) return undefined;
    left -= 1;
    const { method, path } = target.record;
    const recorded: RecordedFault = { kind: fault.kind, method, path, committed: false };
    log.push(recorded);
    const onEffect = (committed: boolean) => {
      recorded.committed = committed;
    };
    return { ...fault.handling, onEffect };
  };
}

const LATENCY_MS = 20;
/** The maximum age of a list, and the maximum delay of an effect. */
const MOST_LATE_MS = 4000;
const MOST_SKEW_S = 3600;
/** When another user creates the same endpoint: before the request, after it, or instead of it. */
export type RivalTime = "before" | "after" | "instead";

const PAGE = "<html><head><title>Error</title></head><body><h1>Something is wrong</h1></body></html>";

/** Operations whose reply has a body. */
const BODIES: Operation[] = ["create", "list", "read", "update"];
const WRITES: Operation[] = ["create", "update", "delete"];

const network = [
  ["latency", always(() => ({ afterCommit: true, delayMs: LATENCY_MS }))],
  ["429", always((target) => limited(target, { "Retry-After": "1" }))],
  ["429-bare", always((target) => limited(target, {}))],
  ["429-proxy", always(() => gatewayReply("html", 429))],
  ["5xx-before", always(serverError)],
  ["5xx-after", always((target) => ({ ...serverError(target), afterCommit: true }))],
  ["reset-before", always(() => ({ reset: true }))],
  ["reset-after", always(() => ({ reset: true, afterCommit: true }))],
  ["hang-before", always(() => ({ hang: true }))],
  ["hang-after", always(() => ({ hang: true, afterCommit: true }))],
  ["truncated", on(BODIES, () => ({ afterCommit: true, cut: "end" }))],
  ["stalled", on(BODIES, () => ({ afterCommit: true, cut: "stall" }))],
  ["cut-reset", on(BODIES, () => ({ afterCommit: true, cut: "reset" }))],
  ["html", always(() => ({ ...gatewayReply("html", 200), afterCommit: true }))],
  ["empty", on(BODIES, () => ({ afterCommit: true, body: "" }))],
  ["page-repeated", pageRepeated],
  ["page-overlap", pageOverlap],
  ["item-moved", itemMoved],
] as const satisfies [string, Fault][];

const trust = [
  ["late", on(WRITES, (target) => ({ ...lost(target), lateMs: upTo(target, MOST_LATE_MS) }))],
  ["list-lag", on(["list"], (target) => behavingAs({ listLag: upTo(target, MOST_LATE_MS) }))],
  ["other-endpoint", otherEndpoint],
  ["other-type", on(["create"], () => ({ afterCommit: true, body: withOtherType }))],
  ["no-date", always(() => behavingAs({ date: null }))],
  ["date-skewed", always((target) => behavingAs({ date: skew(target) }))],
  [
    "created-at",
    on(["create"], (target) => behavingAs({ createdAt: oneOf(target, [null, "now", skew(target)]) })),
  ],
  ["gateway-404", always((target) => gatewayReply(oneOf(target, ["html", "json", "coded"])))],
  ["not-yet", on(["create"], notYet)],
  ["rival", on(["create"], rival)],
] as const satisfies [string, Fault][];

/**
 * A kind of fault. With `-before` in its name the request has no effect. With `-after` it takes effect first, unless the
 * service refuses it. docs/testing.md lists all kinds.
 */
export type FaultKind = (typeof network)[number][0] | (typeof trust)[number][0];

const kinds = new Map<FaultKind, Fault>([...network, ...trust]);

/** The default kinds of `disturb`: faults of the network and of an overloaded service. The data in replies is correct. */
export const faultKinds = network.map(([kind]) => kind);
/**
 * Further kinds for `disturb`: replies that are late, out of date or about another endpoint, and creates by other users.
 * `disturb` draws them only if its option `kinds` contains them.
 */
export const trustFaultKinds = trust.map(([kind]) => kind);

function drawFault(among: readonly FaultKind[], target: Target) {
  const applicable = among.flatMap((kind) => {
    const draw = kinds.get(kind)?.(target);
    return draw ? [{ kind, draw }] : [];
  });
  const drawn = target.random.oneOf(applicable);
  return drawn && { kind: drawn.kind, handling: drawn.draw() };
}

function always(reply: (target: Target) => ScriptedReply): Fault {
  return (target) => () => ({ reply: reply(target) });
}

function on(operations: Operation[], reply: (target: Target) => ScriptedReply): Fault {
  return (target) =>
    operations.some((operation) => matches(operation, target.record))
      ? () => ({ reply: reply(target) })
      : undefined;
}

const oneOf = <Item>({ random }: Target, items: [Item, ...Item[]]): Item => random.oneOf(items) ?? items[0];
const upTo = ({ random }: Target, most: number) => 1 + random.below(most);
const skew = ({ random }: Target) => (random.below(2 * MOST_SKEW_S) - MOST_SKEW_S) * 1000;
const behavingAs = (behaviour: Partial<Behaviour>) => ({ afterCommit: true, behaviour }) as const;
const withOtherType = (real: object) => ("id" in real ? { ...real, type: "ephemeral" } : real);

/** A reply that contains nothing about the request: a reset, silence or a server error. */
function lost(target: Target): ScriptedReply {
  return oneOf<() => ScriptedReply>(target, [
    () => ({ reset: true }),
    () => ({ hang: true }),
    () => serverError(target),
  ])();
}

function limited({ operationId }: Target, headers: Record<string, string>) {
  return { ...new ServiceError(226, 120, 60).answer(operationId), headers };
}

function serverError(target: Target) {
  const status = oneOf(target, [500, 502, 503, 504]);
  if (target.random.next() < 0.5) return gatewayReply("html", status);
  return new ServiceError(20000, "an injected fault").withStatus(status).answer(target.operationId);
}

/** Another endpoint of the account in the reply to a create, read or update. A write may or may not take effect. */
function otherEndpoint(target: Target): ReturnType<Fault> {
  const { record, store } = target;
  const others = (store.newestFirst() ?? []).filter(({ id }) => !record.path.endsWith(`/${id}`));
  const [first, ...more] = others;
  if (!first || record.method === "DELETE" || matches("list", record)) return undefined;
  return () => {
    const status = record.method === "POST" ? 201 : 200;
    return {
      reply: { status, body: oneOf(target, [first, ...more]), afterCommit: target.random.next() < 0.5 },
    };
  };
}

function notYet(target: Target): ScriptedReply {
  const url = String(Object(target.record.body).url);
  return new ServiceError(oneOf(target, [18006, 18016, 18017]), url).answer(target.operationId);
}

/** A create by another user. The client may or may not get the real reply. */
function rival(target: Target): ScriptedReply {
  const when = oneOf<RivalTime>(target, ["before", "after", "instead"]);
  const isLost = target.random.next() < 0.5 || when === "instead";
  const reply = isLost ? lost(target) : ({ afterCommit: true } as const);
  return withRival(when, reply, () => createRival(target, target.record));
}

export function withRival(when: RivalTime, reply: ScriptedReply, create: (request: RecordedRequest) => void) {
  const afterCommit = when !== "instead" && reply.lateMs === undefined;
  return { ...reply, afterCommit, [when === "after" ? "after" : "before"]: create } as ScriptedReply;
}

/** Creates the endpoint of a request for another user, unless the service's rules forbid it. `fields` replace its own. */
export function createRival(
  { store, rivals }: Pick<Target, "store" | "rivals">,
  { body }: RecordedRequest,
  fields: Partial<WireEndpoint> = {},
): void {
  try {
    const { id } = store.create(readCreate({ ...Object(body) }, false));
    store.overwrite(id, fields);
    rivals.push(id);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

/**
 * A gateway's own reply, for `intercept`: an HTML page, JSON without a code (`json`), or JSON with the gateway's own code
 * (`coded`). The request does not reach the service.
 *
 * @param status Default: 404.
 */
export function gatewayReply(form: "html" | "json" | "coded", status = 404) {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  if (form === "html") return { status, headers, body: PAGE };
  const msg = "the gateway has no route for this request";
  return { status, body: form === "json" ? { msg } : { error_code: `GW_${status}`, msg } };
}

/** A page that names itself as the next page. Only once per page, so that a client that follows the link does not loop. */
function pageRepeated(target: Target): ReturnType<Fault> {
  const { record, query, repeated, store } = target;
  const page = query.toString();
  if (!matches("list", record) || repeated.has(page)) return undefined;
  return () => {
    repeated.add(page);
    const uri = `${store.baseUrl}/endpoints?${page}`;
    const body = (real: object) => ("endpoints" in real ? { ...real, next_page_uri: uri } : real);
    return { reply: { afterCommit: true, body } };
  };
}

/** A page that starts one or more items too early. It has at least one new item, so that the list ends. */
function pageOverlap(target: Target): ReturnType<Fault> {
  const { record, query, random, store, pageSize } = target;
  const before = query.get("before_id");
  if (!matches("list", record) || before === null) return undefined;
  const all = store.newestFirst() ?? [];
  const correctStart = all.length - (store.newestFirst(before) ?? all).length;
  const size = Math.min(Number(query.get("limit") ?? MAX_PAGE), pageSize);
  const most = Math.min(correctStart, size - 1);
  if (!(most >= 1)) return undefined;
  return () => {
    const first = correctStart - 1 - random.below(most);
    const earlier = new URLSearchParams(query);
    const last = all[first - 1];
    if (last) earlier.set("before_id", last.id);
    else earlier.delete("before_id");
    return { reply: { afterCommit: true }, query: earlier };
  };
}

/**
 * An agent's endpoint that appears or disappears after the page was read. Both are equally likely if the account has one.
 * Cloud endpoints do not change.
 */
function itemMoved({ record, random, store }: Target): ReturnType<Fault> {
  if (!matches("list", record)) return undefined;
  return () => {
    const disappears = random.next() < 0.5;
    const choice = random.next();
    const after = () => {
      const candidates = (store.newestFirst() ?? []).filter(({ type }) => type === "ephemeral");
      const removed = disappears ? candidates[Math.floor(choice * candidates.length)] : undefined;
      const label = `agent-${Math.floor(choice * 2 ** 32).toString(36)}`;
      if (removed) store.delete(removed.id);
      else store.insert(completeSeed({ type: "ephemeral", url: `https://${label}.example.app` }, store));
    };
    return { reply: { afterCommit: true, after } };
  };
}
