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

/* Faults of the service that only the provider's tests need, on top of the emulator's `injectFaults` and `intercept`. */

/** The operations whose reply has a body. */
const hasBody: Match = ({ method }) => method !== "DELETE";

/** Further kinds of faults for `injectFaults`. */
const own = {
  latency: () => ({ reply: () => ({ afterCommit: true, delayMs: 20 }) }),
  "429-bare": () => ({ reply: () => ({ status: 429, body: { error_code: "ERR_NGROK_226" } }) }),
  "429-proxy": () => ({ reply: () => gatewayReply("html", 429) }),
  stalled: () => ({ match: hasBody, reply: () => ({ afterCommit: true, cut: "stall" }) }),
  "cut-reset": () => ({ match: hasBody, reply: () => ({ afterCommit: true, cut: "reset" }) }),
  html: () => ({ reply: () => ({ ...gatewayReply("html", 200), afterCommit: true }) }),
  empty: () => ({ match: hasBody, reply: () => ({ afterCommit: true, body: "" }) }),
  "item-moved": itemMoved,
} satisfies Record<string, (emulator: Emulator) => Omit<Fault, "kind">>;

export type ServiceFaultKind = FaultKind | keyof typeof own;

export const serviceFaultKinds = [...faultKinds, ...Object.keys(own)] as ServiceFaultKind[];

/** The kinds for `injectFaults`: those of the emulator, and those of this file. */
export const kindsOn = (emulator: Emulator, kinds: readonly ServiceFaultKind[]): (FaultKind | Fault)[] =>
  kinds.map((kind) =>
    kind in own ? { kind, ...own[kind as keyof typeof own](emulator) } : (kind as FaultKind),
  );

const AGENTS = "https://agent-";

/** An agent's endpoint that appears or disappears after a page of the list. Other endpoints do not change. */
function itemMoved(emulator: Emulator): Omit<Fault, "kind"> {
  return {
    match: "list",
    reply: (random) => {
      const [disappears, choice] = [random() < 0.5, random()];
      const after = () => {
        const agents = emulator.endpoints.filter(({ url }) => url?.startsWith(AGENTS));
        const removed = disappears ? agents[Math.floor(choice * agents.length)] : undefined;
        const url = `${AGENTS}${Math.floor(choice * 2 ** 32).toString(36)}.example.app`;
        if (removed) emulator.remove(removed.id);
        else emulator.seed({ type: "ephemeral", url });
      };
      return { afterCommit: true, after };
    },
  };
}

/** The refusal of a URL that the service has not freed yet, after its last endpoint is gone. */
export interface Busy {
  /** The duration in milliseconds. */
  ms: number;
  code: 18006 | 18016 | 18017;
}

/** Makes each URL busy when its last endpoint is gone. Returns an `onAnswer` for the emulator. */
export function freeSlowly({ ms, code }: Busy, now: () => number): (emulator: Emulator) => void {
  let before: string[] = [];
  return (emulator) => {
    const urls = () => emulator.endpoints.flatMap(({ url }) => url ?? []);
    const live = new Set(urls());
    for (const freed of before.filter((url) => !live.has(url))) {
      const until = now() + ms;
      const isRefused = ({ method, body }: RecordedRequest) =>
        ["POST", "PATCH"].includes(method) &&
        Object(body).url === freed &&
        now() < until &&
        !urls().includes(freed);
      const body = {
        error_code: `ERR_NGROK_${code}`,
        status_code: 400,
        msg: `${freed} is not available yet`,
      };
      emulator.intercept(isRefused, { status: 400, body }, Number.POSITIVE_INFINITY);
    }
    before = [...live];
  };
}

/** The creator of others' endpoints. */
export const RIVAL = { id: "usr_rival", uri: "" };

/** The ids of others' endpoints. */
export const rivalsOn = ({ endpoints }: Emulator): string[] =>
  endpoints.flatMap(({ id, principal }) => (principal?.id === RIVAL.id ? id : []));

interface RivalOptions {
  /** Selects the create. Default: any. */
  match?: Match;
  /** Fields of the other user's endpoint that differ. */
  fields?: Edit;
  /** The reply to the client. Default: the real one, or a reset for `instead`. */
  reply?: ScriptedReply;
}

/**
 * Lets another user create the same endpoint when the next matching create arrives: just before that create, just after it, or
 * instead of it. With `instead` the create itself has no effect. Outside of pools, only the first is created.
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
      ({ url, pooling_enabled: pools }) => url === wanted.url && !(pools && wanted.pooling_enabled),
    );
    if (!isRefused) emulator.seed({ ...wanted, principal: RIVAL, ...fields, type: "cloud" });
  };
  const afterCommit = when !== "instead";
  const hook = when === "after" ? "after" : "before";
  emulator.intercept(match, { ...visible, afterCommit, [hook]: create } as ScriptedReply);
}
