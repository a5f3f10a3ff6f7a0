import { type Fault, type FaultKind, faultKinds, gatewayReply, type Match } from "../../sdk/testing";

/* Faults of the service that only the tests of the provider need, over the emulator's `disturb` and `intercept`. */

/** The operations whose reply has a body. */
const hasBody: Match = ({ method }) => method !== "DELETE";

/** Further kinds of faults for `disturb`. */
const own = {
  latency: { reply: () => ({ afterCommit: true, delayMs: 20 }) },
  "429-bare": { reply: () => ({ status: 429, body: { error_code: "ERR_NGROK_226" } }) },
  "429-proxy": { reply: () => gatewayReply("html", 429) },
  stalled: { match: hasBody, reply: () => ({ afterCommit: true, cut: "stall" }) },
  "cut-reset": { match: hasBody, reply: () => ({ afterCommit: true, cut: "reset" }) },
  html: { reply: () => ({ ...gatewayReply("html", 200), afterCommit: true }) },
  empty: { match: hasBody, reply: () => ({ afterCommit: true, body: "" }) },
} satisfies Record<string, Omit<Fault, "kind">>;

export type ServiceFaultKind = FaultKind | keyof typeof own;

export const serviceFaultKinds = [...faultKinds, ...Object.keys(own)] as ServiceFaultKind[];

/** The kinds for `disturb`: those of the emulator, and those of this file. */
export const faultsOf = (kinds: readonly ServiceFaultKind[]): (FaultKind | Fault)[] =>
  kinds.map((kind) => (kind in own ? { kind, ...own[kind as keyof typeof own] } : (kind as FaultKind)));
