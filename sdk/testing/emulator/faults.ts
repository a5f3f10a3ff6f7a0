import type { WireEndpoint } from "../../../provider/api/contract";
import type { RecordedRequest } from "../types";
import type { Behaviour } from "./behaviour";
import { itemMoved, pageOverlap, pageRepeated } from "./listFaults";
import type { Operation } from "./routes";
import { type Kind, matches, type ScriptedReply, type Target } from "./script";
import { ServiceError } from "./serviceErrors";
import { readCreate } from "./serviceRules";

const LATENCY_MS = 20;
/** How far lists lag behind, and how late an effect comes, at most. */
const MOST_LATE_MS = 4000;
const MOST_SKEW_S = 3600;
export type RivalTime = "before" | "after" | "instead";

const PAGE = "<html><head><title>Error</title></head><body><h1>Something is wrong</h1></body></html>";

const BODIES: Operation[] = ["create", "list", "read", "update"];
const WRITES: Operation[] = ["create", "update", "delete"];

/** Faults of the network and of an overloaded service. What an answer contains is true. */
const network = [
  // The answer comes 20 ms late.
  ["latency", always(() => ({ afterCommit: true, delayMs: LATENCY_MS }))],
  // The service's refusal (226) with `Retry-After: 1`; without that header; a gateway's page with that status.
  ["429", always((target) => limited(target, { "Retry-After": "1" }))],
  ["429-bare", always((target) => limited(target, {}))],
  ["429-proxy", always(() => gatewayReply("html", 429))],
  // 500, 502, 503 or 504, as HTML or JSON.
  ["5xx-before", always(serverError)],
  ["5xx-after", always((target) => ({ ...serverError(target), afterCommit: true }))],
  // The connection is reset.
  ["reset-before", always(() => ({ reset: true }))],
  ["reset-after", always(() => ({ reset: true, afterCommit: true }))],
  // Nothing is ever sent.
  ["hang-before", always(() => ({ hang: true }))],
  ["hang-after", always(() => ({ hang: true, afterCommit: true }))],
  // Half of the body comes, and then the connection is closed, stays open in silence, or is reset.
  ["truncated", on(BODIES, () => ({ afterCommit: true, cut: "end" }))],
  ["stalled", on(BODIES, () => ({ afterCommit: true, cut: "stall" }))],
  ["cut-reset", on(BODIES, () => ({ afterCommit: true, cut: "reset" }))],
  // An HTML page with the status 200.
  ["html", always(() => ({ ...gatewayReply("html", 200), afterCommit: true }))],
  // The right status, and no body.
  ["empty", on(BODIES, () => ({ afterCommit: true, body: "" }))],
  // A page of the list names itself as the next one, once: asked for again, it names the right one.
  ["page-repeated", pageRepeated],
  // A later page of the list starts one or more items too early.
  ["page-overlap", pageOverlap],
  // Once a page of the list is made, an agent's endpoint comes or goes. Never a cloud endpoint.
  ["item-moved", itemMoved],
] as const satisfies [string, Kind][];

/** Answers that are late, old or about something else, and creates by another client. */
const trust = [
  // The answer is lost, and the effect comes up to 4 s later by the emulator's clock.
  ["late", on(WRITES, (target) => ({ ...lost(target), lateMs: upTo(target, MOST_LATE_MS) }))],
  // The list is up to 4 s old.
  ["list-lag", on(["list"], (target) => answered({ listLag: upTo(target, MOST_LATE_MS) }))],
  // The answer is about another endpoint of the account. A write has taken effect, or has not.
  ["other-endpoint", otherEndpoint],
  // What was created is called an agent's endpoint.
  ["other-type", on(["create"], () => ({ afterCommit: true, body: asAgents }))],
  // The answer has no `Date`, or one that is up to an hour off.
  ["no-date", always(() => answered({ date: null }))],
  ["date-skewed", always((target) => answered({ date: skew(target) }))],
  // What was created has no `created_at`, one that is no time, or one that is up to an hour off, and keeps it.
  [
    "created-at",
    on(["create"], (target) => answered({ createdAt: oneOf(target, [null, "now", skew(target)]) })),
  ],
  // A gateway answers 404 by itself: a page, JSON without a code, or with a code of its own. Nothing takes effect.
  ["gateway-404", always((target) => gatewayReply(oneOf(target, ["html", "json", "coded"])))],
  // A create is refused with 18006, 18016 or 18017, though the URL is free.
  ["not-yet", on(["create"], notYet)],
  // Another client creates the same just before, just after or in place of a create, whose answer may be lost.
  ["rival", on(["create"], rival)],
] as const satisfies [string, Kind][];

/** What can happen to a request. `before` in a name: it takes no effect; `after`: it does first, if it is not refused. */
export type FaultKind = (typeof network)[number][0] | (typeof trust)[number][0];

const kinds = new Map<FaultKind, Kind>([...network, ...trust]);

/** The default of `disturb`: faults of the network and of an overloaded service. What an answer contains is true. */
export const faultKinds = network.map(([kind]) => kind);
/** Answers that are late, old or about something else, and creates by another client. `disturb` draws them only if named. */
export const trustFaultKinds = trust.map(([kind]) => kind);

/** Draws one of those kinds that apply to the request; undefined where none does. */
export function drawFault(among: readonly FaultKind[], target: Target) {
  const applicable = among.flatMap((kind) => {
    const plan = kinds.get(kind)?.(target);
    return plan ? [{ kind, plan }] : [];
  });
  const drawn = target.random.oneOf(applicable);
  return drawn && { kind: drawn.kind, plan: drawn.plan() };
}

function always(reply: (target: Target) => ScriptedReply): Kind {
  return (target) => () => ({ reply: reply(target) });
}

function on(operations: Operation[], reply: (target: Target) => ScriptedReply): Kind {
  return (target) =>
    operations.some((operation) => matches(operation, target.record))
      ? () => ({ reply: reply(target) })
      : undefined;
}

const oneOf = <Item>({ random }: Target, items: [Item, ...Item[]]): Item => random.oneOf(items) ?? items[0];
const upTo = ({ random }: Target, most: number) => 1 + random.below(most);
const skew = ({ random }: Target) => (random.below(2 * MOST_SKEW_S) - MOST_SKEW_S) * 1000;
const answered = (behaviour: Partial<Behaviour>) => ({ afterCommit: true, behaviour }) as const;
const asAgents = (real: object) => ("id" in real ? { ...real, type: "ephemeral" } : real);

/** One of the ways in which an answer gets lost. */
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

function serverError({ random, operationId }: Target) {
  const status = random.oneOf([500, 502, 503, 504]) ?? 500;
  if (random.next() < 0.5) return gatewayReply("html", status);
  return new ServiceError(20000, "a fault was drawn").withStatus(status).answer(operationId);
}

/** Not for a list or a delete, and not where there is no other endpoint. */
function otherEndpoint(target: Target): ReturnType<Kind> {
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

function rival(target: Target): ScriptedReply {
  const when = oneOf<RivalTime>(target, ["before", "after", "instead"]);
  const isLost = target.random.next() < 0.5 || when === "instead";
  return metBy(when, isLost ? lost(target) : { afterCommit: true }, () => createRival(target, target.record));
}

/** A reply to a create that meets a create by another client. */
export function metBy(when: RivalTime, reply: ScriptedReply, create: (request: RecordedRequest) => void) {
  const afterCommit = when !== "instead" && reply.lateMs === undefined;
  return { ...reply, afterCommit, [when === "after" ? "after" : "before"]: create } as ScriptedReply;
}

/** Creates what a request asks for on behalf of another client, with these fields over it, unless the rules forbid it. */
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
 * What a gateway between client and service answers by itself: a page, JSON without a code, or JSON with a code of the
 * gateway's own. The request has no effect.
 */
export function gatewayReply(form: "html" | "json" | "coded", status = 404) {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  if (form === "html") return { status, headers, body: PAGE };
  const msg = "the gateway has no route for this request";
  return { status, body: form === "json" ? { msg } : { error_code: `GW_${status}`, msg } };
}
