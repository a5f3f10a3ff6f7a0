import type { WireEndpoint } from "../../../provider/wire";
import type { RecordedRequest } from "../types";
import { ServiceError } from "./errors";
import { itemMoved, pageOverlap, pageRepeated } from "./listFaults";
import type { Random } from "./random";
import { readCreate } from "./rules";
import type { Plan, ScriptedReply } from "./script";
import type { Store } from "./store";

/** Every kind of fault, in the order in which they are drawn from. */
export const faultKinds = [
  "latency",
  "429",
  "429-bare",
  "429-proxy",
  "5xx-before",
  "5xx-after",
  "reset-before",
  "reset-after",
  "hang-before",
  "hang-after",
  "truncated",
  "stalled",
  "cut-reset",
  "html",
  "empty",
  "page-repeated",
  "page-overlap",
  "item-moved",
] as const;

/**
 * What can happen to a request. Those that are named `before`, and all of 429, leave the endpoints as they are; in
 * all others the request takes effect first, where it is not refused.
 *
 * - `latency`: the answer comes 20 ms late.
 * - `429`: the service's refusal (226) with `Retry-After: 1`; `429-bare`: without that header; `429-proxy`: an HTML
 *   page with that status, from something between client and service.
 * - `5xx-before`, `5xx-after`: 500, 502, 503 or 504, as HTML or JSON.
 * - `reset-before`, `reset-after`: the connection is reset. `hang-before`, `hang-after`: nothing is ever sent.
 * - `truncated`, `cut-reset`, `stalled`: half of the body comes, and then the connection is closed, is reset, or stays
 *   open in silence. `empty`: the right status, and no body. None of the four for DELETE, which has no body.
 * - `html`: an HTML page with the status 200.
 * - `page-repeated`: a page of the list names itself as the next one, once: asked for again, it names the right one.
 * - `page-overlap`: a later page of the list starts one or more items too early.
 * - `item-moved`: once a page of the list is made, an agent's endpoint comes or goes. Never a cloud endpoint.
 */
export type FaultKind = (typeof faultKinds)[number];

/** A request, and what a fault may take into account. */
export interface Target {
  record: RecordedRequest;
  query: URLSearchParams;
  /** The endpoints of the account that was asked. */
  store: Store;
  pageSize: number;
  operationId: string;
  random: Random;
  /** Queries of pages that have been given as their own next page. */
  repeated: Set<string>;
}

/** Undefined where the fault does not apply to the request. Whether it does must not depend on chance. */
export type Kind = (target: Target) => (() => Plan) | undefined;

const LATENCY_MS = 20;
const PAGE = "<html><head><title>Error</title></head><body><h1>Something is wrong</h1></body></html>";

const kinds: Record<FaultKind, Kind> = {
  latency: always(() => ({ afterCommit: true, delayMs: LATENCY_MS })),
  "429": always((target) => limited(target, { "Retry-After": "1" })),
  "429-bare": always((target) => limited(target, {})),
  "429-proxy": always(() => gatewayReply("html", 429)),
  "5xx-before": always(serverError),
  "5xx-after": always((target) => ({ ...serverError(target), afterCommit: true })),
  "reset-before": always(() => ({ reset: true })),
  "reset-after": always(() => ({ reset: true, afterCommit: true })),
  "hang-before": always(() => ({ hang: true })),
  "hang-after": always(() => ({ hang: true, afterCommit: true })),
  truncated: withBody({ afterCommit: true, cut: "end" }),
  stalled: withBody({ afterCommit: true, cut: "stall" }),
  "cut-reset": withBody({ afterCommit: true, cut: "reset" }),
  html: always(() => ({ ...gatewayReply("html", 200), afterCommit: true })),
  empty: withBody({ afterCommit: true, body: "" }),
  "page-repeated": pageRepeated,
  "page-overlap": pageOverlap,
  "item-moved": itemMoved,
};

/** Draws one of those kinds that apply to the request; undefined where none does. */
export function drawFault(
  among: readonly FaultKind[],
  target: Target,
): { kind: FaultKind; plan: Plan } | undefined {
  const applicable = among.flatMap((kind) => {
    const plan = kinds[kind](target);
    return plan ? [{ kind, plan }] : [];
  });
  const drawn = target.random.oneOf(applicable);
  return drawn && { kind: drawn.kind, plan: drawn.plan() };
}

function always(reply: (target: Target) => ScriptedReply): Kind {
  return (target) => () => ({ reply: reply(target) });
}

function withBody(reply: ScriptedReply): Kind {
  return ({ record }) => (record.method === "DELETE" ? undefined : () => ({ reply }));
}

function limited({ operationId }: Target, headers: Record<string, string>) {
  return { status: 429, headers, body: new ServiceError(226, "120", "60").body(operationId) };
}

function serverError({ random, operationId }: Target) {
  const status = random.oneOf([500, 502, 503, 504]) ?? 500;
  if (random.next() < 0.5) return gatewayReply("html", status);
  const body = new ServiceError(20000, "a fault was drawn").body(operationId);
  return { status, body: { ...body, status_code: status } };
}

/**
 * What a gateway between client and service answers by itself: a page, JSON without a code, or JSON with a code of the
 * gateway's own. The request has no effect.
 */
export function gatewayReply(form: "html" | "json" | "coded", status = 404) {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  if (form === "html") return { status, headers, body: PAGE };
  const msg = "the gateway has no route for this request";
  return {
    status,
    body: form === "json" ? { msg } : { error_code: `GW_${status}`, status_code: status, msg },
  };
}

/** Somebody else creates what a request asks for, with other fields where they are given. Undefined where he may not. */
export function createRival(store: Store, { body }: RecordedRequest, fields: Partial<WireEndpoint> = {}) {
  try {
    const { id } = store.create(readCreate({ ...Object(body) }, false));
    return store.overwrite(id, fields);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
