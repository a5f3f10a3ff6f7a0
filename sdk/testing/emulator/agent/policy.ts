import { z } from "zod";
import { type Condition, compile, type Variables } from "./expressions";
import type { Headers } from "./schemes";
import type { Verdict } from "./signatures";

/*
 * The part of traffic policies that webhooks need: rules on requests, and these actions. What is not here is refused
 * when the agent starts, since a policy that runs without one of its actions would be another policy.
 */

const text = z.record(z.string(), z.string());

const actionSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("verify-webhook"),
    config: z.strictObject({
      provider: z.string().min(1),
      secret: z.string().min(1).optional(),
      enforce: z.boolean().default(true),
    }),
  }),
  z.strictObject({
    type: z.literal("deny"),
    config: z.strictObject({ status_code: z.number().int().default(403) }).prefault({}),
  }),
  z.strictObject({
    type: z.literal("custom-response"),
    config: z.strictObject({
      status_code: z.number().int().default(200),
      body: z.string().default(""),
      headers: text.default({}),
    }),
  }),
  z.strictObject({
    type: z.literal("forward-internal"),
    config: z.strictObject({ url: z.string().min(1), on_error: z.string().optional() }),
  }),
  z.strictObject({ type: z.literal("add-headers"), config: z.strictObject({ headers: text }) }),
  z.strictObject({ type: z.literal("log"), config: z.unknown() }),
]);

export const policySchema = z.strictObject({
  on_http_request: z
    .array(
      z.strictObject({
        name: z.string().optional(),
        expressions: z.array(z.string()).default([]),
        actions: z.array(actionSchema).min(1),
      }),
    )
    .default([]),
});

export type Policy = z.output<typeof policySchema>;
type Action = z.output<typeof actionSchema>;
export type VerifyConfig = Extract<Action, { type: "verify-webhook" }>["config"];

/** A request as policies see it. */
export interface Visit {
  method: string;
  /** Path and query. */
  target: string;
  headers: Headers;
  body: Buffer;
}

/** What becomes of a request: it goes on to the application, with these headers more, or is answered. */
export type Outcome =
  | { forward: true; headers: Record<string, string> }
  | { forward: false; status: number; headers: Record<string, string>; body: string };

/** Verifies one request; the agent counts. */
export type Verify = (config: VerifyConfig, visit: Visit) => Verdict;

/** Makes a policy ready to run. Throws where an expression cannot be evaluated. */
export async function preparePolicy(policy: Policy): Promise<(visit: Visit, verify: Verify) => Outcome> {
  const rules = await Promise.all(
    policy.on_http_request.map(async ({ expressions, actions }) => ({
      holds: await compile(expressions),
      actions,
    })),
  );
  return (visit, verify) => run(rules, visit, verify);
}

function run(rules: { holds: Condition; actions: Action[] }[], visit: Visit, verify: Verify): Outcome {
  const headers: Record<string, string> = {};
  const results: Record<string, unknown> = {};
  const variables: Variables = { req: requestVariables(visit), actions: { ngrok: results } };
  for (const { holds, actions } of rules) {
    if (!holds(variables)) continue;
    for (const { type, config } of actions) {
      switch (type) {
        case "verify-webhook": {
          const verdict = verify(config, visit);
          results["verify_webhook"] = {
            verified: verdict.verified,
            error: verdict.verified
              ? { code: "", message: "" }
              : { code: REFUSED.code, message: verdict.reason },
          };
          if (!verdict.verified && config.enforce) return REFUSED.outcome;
          if (verdict.verified && verdict.answer !== undefined) return { ...ANSWERED, body: verdict.answer };
          break;
        }
        case "add-headers":
          Object.assign(headers, config.headers);
          break;
        case "deny":
          return { forward: false, status: config.status_code, headers: {}, body: "" };
        case "custom-response":
          return { forward: false, status: config.status_code, headers: config.headers, body: config.body };
        case "forward-internal":
          return { forward: true, headers };
        case "log":
          break;
      }
    }
  }
  // The end of an agent's policy; a cloud endpoint's ends before it.
  return { forward: true, headers };
}

/** Code and status of a request that does not verify are documented; the text of the page is not, and is ours. */
const REFUSED = {
  code: "ERR_NGROK_3204",
  outcome: {
    forward: false,
    status: 403,
    headers: { "content-type": "text/plain" },
    body: "ERR_NGROK_3204: Request failed webhook verification",
  },
} as const;

/** A challenge is answered by the service, and never reaches the application. */
const ANSWERED = { forward: false, status: 200, headers: { "content-type": "application/json" } } as const;

function requestVariables({ method, target, headers, body }: Visit): object {
  const url = new URL(target, "http://agent");
  const query: Record<string, string[]> = {};
  for (const name of url.searchParams.keys()) query[name] = url.searchParams.getAll(name);
  return {
    method,
    host: headers["host"] ?? "",
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""]])),
    content_type: headers["content-type"]?.split(";")[0]?.trim() ?? "",
    content_length: BigInt(body.length),
    url: { path: url.pathname, query: url.search.slice(1), query_params: query },
  };
}
