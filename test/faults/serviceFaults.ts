import type { WireEndpoint } from "../../provider/api/contract";
import {
  type Edit,
  type Emulator,
  type Fault,
  type FaultKind,
  faultKinds,
  gatewayReply,
  type Match,
  type RecordedRequest,
  type ScriptedReply,
} from "../../sdk/testing";

/* Faults of the service that only the tests of the provider need, over the emulator's `disturb` and `intercept`. */

/** A page of the list in a reply. */
interface Page {
  endpoints: WireEndpoint[];
  next_page_uri: string | null;
}

/** The operations whose reply has a body. */
const hasBody: Match = ({ method }) => method !== "DELETE";

/** Further kinds of faults for `disturb`. */
const own = {
  latency: () => ({ reply: () => ({ afterCommit: true, delayMs: 20 }) }),
  "429-bare": () => ({ reply: () => ({ status: 429, body: { error_code: "ERR_NGROK_226" } }) }),
  "429-proxy": () => ({ reply: () => gatewayReply("html", 429) }),
  stalled: () => ({ match: hasBody, reply: () => ({ afterCommit: true, cut: "stall" }) }),
  "cut-reset": () => ({ match: hasBody, reply: () => ({ afterCommit: true, cut: "reset" }) }),
  html: () => ({ reply: () => ({ ...gatewayReply("html", 200), afterCommit: true }) }),
  empty: () => ({ match: hasBody, reply: () => ({ afterCommit: true, body: "" }) }),
  "page-repeated": pageRepeated,
  "page-overlap": pageOverlap,
  "item-moved": itemMoved,
} satisfies Record<string, (emulator: Emulator) => Omit<Fault, "kind">>;

export type ServiceFaultKind = FaultKind | keyof typeof own;

export const serviceFaultKinds = [...faultKinds, ...Object.keys(own)] as ServiceFaultKind[];

/** The kinds for `disturb`: those of the emulator, and those of this file. */
export const kindsOn = (
  emulator: Emulator,
  kinds: readonly ServiceFaultKind[] = serviceFaultKinds,
): (FaultKind | Fault)[] =>
  kinds.map((kind) =>
    kind in own ? { kind, ...own[kind as keyof typeof own](emulator) } : (kind as FaultKind),
  );

/** A page that names itself as the next page. Only once per page, so that a client that follows the link does not loop. */
function pageRepeated({ baseUrl }: Emulator): Omit<Fault, "kind"> {
  const repeated = new Set<string>();
  return {
    match: "list",
    reply: ({ query }) => {
      const page = `${new URLSearchParams(query)}`;
      if (repeated.has(page)) return undefined;
      repeated.add(page);
      const next_page_uri = `${baseUrl}/endpoints?${page}`;
      return onPage((real) => ({ ...real, next_page_uri }));
    },
  };
}

/** A page that starts one or more items too early. It has at least one new item, so that the list ends. */
function pageOverlap(emulator: Emulator): Omit<Fault, "kind"> {
  return {
    match: ({ method, path, query }) =>
      method === "GET" && path === "/endpoints" && "before_id" in query && !("filter" in query),
    reply: ({ query }, random) => {
      const share = random();
      return onPage((real) => {
        const all = emulator.endpoints;
        const end = all.findIndex(({ id }) => id === query["before_id"]) + 1;
        const size = real.endpoints.length;
        const by = Math.min(end, 1 + Math.floor(share * (size - 1)));
        if (by < 1 || size <= by) return real;
        const endpoints = [...all.slice(end - by, end), ...real.endpoints.slice(0, size - by)];
        const next = new URLSearchParams({ ...query, before_id: endpoints.at(-1)?.id ?? "" });
        return { ...real, endpoints, next_page_uri: `${emulator.baseUrl}/endpoints?${next}` };
      });
    },
  };
}

/** An agent's endpoint that appears or disappears after a page of the list. Cloud endpoints do not change. */
function itemMoved(emulator: Emulator): Omit<Fault, "kind"> {
  return {
    match: "list",
    reply: (_, random) => {
      const [disappears, choice] = [random() < 0.5, random()];
      const after = () => {
        const agents = emulator.endpoints.filter(({ type }) => type === "ephemeral");
        const removed = disappears ? agents[Math.floor(choice * agents.length)] : undefined;
        const url = `https://agent-${Math.floor(choice * 2 ** 32).toString(36)}.example.app`;
        if (removed) emulator.remove(removed.id);
        else emulator.seed({ type: "ephemeral", url });
      };
      return { afterCommit: true, after };
    },
  };
}

function onPage(change: (real: Page) => Page): ScriptedReply {
  const isPage = (real: object): real is Page => "endpoints" in real;
  return { afterCommit: true, body: (real) => (isPage(real) ? change(real) : real) };
}

/** How a temporarily unavailable URL is refused. */
export interface Busy {
  /** How long, in milliseconds. */
  ms: number;
  code: 18006 | 18016 | 18017;
}

interface Clock {
  now(): number;
}

/**
 * Refuses a URL that no endpoint has until the time is over, as the service does after a domain was reserved or while it frees
 * a URL.
 */
export function makeBusy(emulator: Emulator, url: string, { ms, code }: Busy, clock: Clock): void {
  const until = clock.now() + ms;
  const isRefused = ({ method, body }: RecordedRequest) =>
    (method === "POST" || method === "PATCH") &&
    Object(body).url === url &&
    clock.now() < until &&
    !emulator.endpoints.some((endpoint) => endpoint.url === url);
  const body = { error_code: `ERR_NGROK_${code}`, status_code: 400, msg: `${url} is not available yet` };
  emulator.intercept(isRefused, { status: 400, body }, Number.POSITIVE_INFINITY);
}

/** Returns an `onAnswer` after which each URL is busy for a while when its last endpoint is gone. */
export function freeingSlowly(busy: Busy, clock: Clock): (emulator: Emulator) => void {
  let before = new Set<string>();
  return (emulator) => {
    const now = new Set(emulator.endpoints.flatMap(({ url }) => url ?? []));
    for (const url of before) if (!now.has(url)) makeBusy(emulator, url, busy, clock);
    before = now;
  };
}

/** Who creates the endpoints of `rival`. */
const RIVAL = { id: "usr_rival", uri: "" };

/** The ids of the endpoints that `rival` created. */
export const rivalsOn = ({ endpoints }: Emulator): string[] =>
  endpoints.flatMap(({ id, principal }) => (principal?.id === RIVAL.id ? id : []));

export interface RivalOptions {
  /** Selects the create. Default: any. */
  match?: Match;
  /** Fields of the other user's endpoint that differ. */
  fields?: Edit;
  /** The reply to the client. Default: the real one, or a reset for `instead`. */
  reply?: ScriptedReply;
}

/**
 * Lets another user create the same endpoint when the next matching create arrives: just before that create, just after it, or
 * instead of it. With `instead` the create itself has no effect. If the service refuses equal URLs, only the first is created.
 */
export function rival(
  emulator: Emulator,
  when: "before" | "after" | "instead",
  { match = "create", fields = {}, reply }: RivalOptions = {},
): void {
  const visible = reply ?? (when === "instead" ? { reset: true } : { afterCommit: true });
  const create = ({ body }: RecordedRequest) => {
    const wanted = Object(body) as Edit & { url: string };
    const isRefused = emulator.endpoints.some(
      ({ url, pooling_enabled: pools }) =>
        url === wanted.url && emulator.behaviour.urlTaken !== "allowed" && !(pools && wanted.pooling_enabled),
    );
    if (!isRefused) emulator.seed({ ...wanted, principal: RIVAL, ...fields, type: "cloud" });
  };
  const afterCommit = when !== "instead";
  const hook = when === "after" ? "after" : "before";
  emulator.intercept(match, { ...visible, afterCommit, [hook]: create } as ScriptedReply);
}
