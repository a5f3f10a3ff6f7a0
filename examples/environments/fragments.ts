import { type PolicyRule, rules } from "pulumi-endpoints";

/** A part of a policy: a list of rules, empty if the part does not apply. */
export type Rules = PolicyRule<"on_http_request">[];

/** Refuses requests from other networks. Without networks, all requests are accepted. */
export const onlyFrom = (networks: string[]): Rules =>
  networks.length === 0
    ? []
    : [{ actions: [{ type: "restrict-ips", config: { enforce: true, allow: networks } }] }];

/** Limits the requests per minute from one address. */
export const limitTo = (requestsPerMinute: number): Rules => [
  {
    actions: [
      {
        type: "rate-limit",
        config: {
          name: "requests of one address",
          algorithm: "sliding_window",
          capacity: requestsPerMinute,
          rate: "60s",
          bucket_key: ["conn.client_ip"],
        },
      },
    ],
  },
];

/** Answers every request with a maintenance notice. */
export const maintenance = (): Rules => [
  rules.answer({
    status_code: 503,
    headers: { "content-type": "text/plain", "retry-after": "600" },
    body: "We are working on it, and back soon.\n",
  }),
];

/** Forwards requests to an internal endpoint. */
export const forwardTo = (url: string): Rules => [rules.forwardTo(url)];

/** A policy of these parts. The service runs them in this order. */
export const onRequest = (...fragments: Rules[]) => ({ on_http_request: fragments.flat() });
