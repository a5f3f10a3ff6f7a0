import { z } from "zod";
import { vaultReference } from "../../../webhookSecret";
import { type Condition, compile } from "./expressions";
import type { Verdict } from "./signatures";
import type { Values, Visit } from "./variables";

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
  z.strictObject({
    type: z.literal("add-headers"),
    config: z.strictObject({
      headers: z
        .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be the name of a header"), z.string())
        .refine((headers) => !Object.keys(headers).some((name) => /^user-agent$/i.test(name)), {
          error: "may not add user-agent",
        }),
    }),
  }),
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

/** What becomes of a request: it goes on to the application, with these headers more, or is answered. */
export type Outcome =
  | { forward: true; headers: [name: string, value: string][] }
  | { forward: false; status: number; headers: Record<string, string>; body: string };

/** Verifies one request; the agent counts. */
export type Verify = (config: VerifyConfig, visit: Visit) => Verdict;

/** Makes a policy ready to run. Throws where an expression cannot be evaluated. */
export async function preparePolicy(policy: Policy): Promise<(visit: Visit, verify: Verify) => Outcome> {
  const rules: Rule[] = [];
  for (const [index, { expressions, actions }] of policy.on_http_request.entries()) {
    rules.push({ holds: await compile(expressions, `on_http_request.${index}`), actions });
  }
  return (visit, verify) => run(rules, visit, verify);
}

interface Rule {
  holds: Condition;
  actions: Action[];
}

function run(rules: Rule[], visit: Visit, verify: Verify): Outcome {
  const headers: [string, string][] = [];
  const results: Values = new Map();
  const variables: Values = new Map([["ngrok", results]]);
  for (const { holds, actions } of rules) {
    if (!holds(visit, variables)) continue;
    for (const { type, config } of actions) {
      switch (type) {
        case "verify-webhook": {
          const verdict = verify(config, visit);
          results.set("verify_webhook", resultOf(verdict));
          if (!verdict.verified && config.enforce) return REFUSED.outcome;
          if (verdict.verified && verdict.answer !== undefined) return { ...ANSWERED, body: verdict.answer };
          break;
        }
        case "add-headers":
          for (const [name, value] of Object.entries(config.headers))
            headers.push([name.toLowerCase(), value]);
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

/** What later rules see of a verification. */
function resultOf(verdict: Verdict): Values {
  const { code, message } = verdict.verified
    ? { code: "", message: "" }
    : { code: REFUSED.code, message: verdict.reason };
  return new Map<string, boolean | Map<string, string>>([
    ["verified", verdict.verified],
    [
      "error",
      new Map([
        ["code", code],
        ["message", message],
      ]),
    ],
  ]);
}

/** The place of a string with an expression in it, `${…}`, which the service would evaluate; undefined without one. */
export function interpolationIn(value: unknown, place = "", name = ""): string | undefined {
  if (typeof value === "string") {
    const isSecret = name === "secret" && vaultReference(value) !== undefined;
    return value.includes("${") && !isSecret ? place : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const found = interpolationIn(part, place === "" ? key : `${place}.${key}`, key);
    if (found !== undefined) return found;
  }
  return undefined;
}
