/**
 * The parts that policies are made of. Each is a list of rules, so that one that does not apply is an empty list; the
 * order in which `onRequest` is given them is the order in which the service runs them.
 */
export interface Rule {
  actions: { type: string; config: Record<string, unknown> }[];
}

/** Refuses whoever does not come from these networks. Without networks everybody may come. */
export const onlyFrom = (networks: string[]): Rule[] =>
  networks.length === 0 ? [] : [rule("restrict-ips", { enforce: true, allow: networks })];

/** Refuses more than so many requests a minute from one address. */
export const limitTo = (requestsPerMinute: number): Rule[] => [
  rule("rate-limit", {
    name: "requests of one address",
    algorithm: "sliding_window",
    capacity: requestsPerMinute,
    rate: "60s",
    bucket_key: ["conn.client_ip"],
  }),
];

/** Answers everything with a notice that it is down for now. */
export const maintenance = (): Rule[] => [
  rule("custom-response", {
    status_code: 503,
    headers: { "content-type": "text/plain", "retry-after": "600" },
    body: "We are working on it, and back soon.\n",
  }),
];

/** Hands requests to an internal endpoint. */
export const forwardTo = (url: string): Rule[] => [rule("forward-internal", { url })];

/** A policy of these fragments, in this order. */
export const onRequest = (...fragments: Rule[][]) => ({ on_http_request: fragments.flat() });

function rule(type: string, config: Record<string, unknown>): Rule {
  return { actions: [{ type, config }] };
}
