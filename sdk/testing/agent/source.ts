import { readFileSync } from "node:fs";
import { z } from "zod";
import { policyFromText } from "../../../provider/document";
import { agentFields } from "../../webhooks/webhookSettings";

/*
 * What the agent can be started with. Every form is read strictly, as the agent reads it: a key or an option that it
 * does not know is an error, so that a configuration which works here has no misspelt part. No message holds a value,
 * since each may be a secret in the wrong place.
 */

/** Exactly one of the first three. */
export interface AgentSource {
  /** Command-line options, as they stand behind `http <upstream>`. */
  options?: readonly string[];
  /** The text of a configuration file, YAML of version 2 or 3. */
  config?: string;
  /** A traffic policy: an agent's, or that of a cloud endpoint. Data, or text that holds JSON or YAML. */
  trafficPolicy?: object | string;
  /** Which endpoint of a configuration file to start. Default: the only one. */
  endpoint?: string;
}

/** An endpoint of the agent, whatever it was configured with. */
interface AgentEndpoint {
  verifications: Verification[];
  /** A port or a URL. Options and policies name none. */
  upstream?: number | string;
}

/** @throws Error that names what is wrong with the source. */
export function readSource({ options, config, trafficPolicy, endpoint }: AgentSource): AgentEndpoint {
  if ([options, config, trafficPolicy].filter((form) => form !== undefined).length !== 1)
    throw new Error("the agent starts with options, a config or a trafficPolicy: one of the three");
  if (options !== undefined) return { verifications: fromOptions(options) };
  if (config !== undefined) return fromConfig(config, endpoint);
  return { verifications: readPolicy(trafficPolicy) };
}

/*
 * Of traffic policies the stand-in judges verification and the way on to the application. It refuses everything else when it
 * starts, since it would leave out a part of the policy.
 */

const verification = z.strictObject({
  provider: z.string(),
  secret: z.string().optional(),
  enforce: z.boolean().default(true),
});

const action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("verify-webhook"), config: verification }),
  z.strictObject({ type: z.literal("forward-internal"), config: z.looseObject({ url: z.string() }) }),
]);

const rule = z.strictObject({
  name: z.string().optional(),
  expressions: z
    .tuple([], { error: "it evaluates no expressions; try each verification by itself, without them" })
    .optional(),
  actions: z.array(action).min(1),
});

/** A policy as the verifications that every request has to pass, in order. */
const policySchema = z
  .strictObject({ on_http_request: z.array(rule).default([]) })
  .transform(({ on_http_request: rules }) => {
    const actions = rules.flatMap(({ actions }) => actions);
    const end = actions.findIndex(({ type }) => type === "forward-internal");
    return actions
      .slice(0, end < 0 ? undefined : end)
      .flatMap((action) => (action.type === "verify-webhook" ? [action.config] : []));
  });

/** A verification that each request has to pass. */
export interface Verification {
  provider: string;
  secret?: string | undefined;
  enforce: boolean;
}

const OPTIONS = ["--verify-webhook", "--verify-webhook-secret", "--traffic-policy-file"] as const;

function fromOptions(args: readonly string[]): Verification[] {
  const values = new Map<string, string>();
  for (let index = 0; index < args.length; index += 2) {
    const [name, value] = args.slice(index, index + 2);
    if (!OPTIONS.some((option) => option === name) || name === undefined || value === undefined)
      throw new Error(`argument ${index + 1} is none of these options with a value: ${OPTIONS.join(", ")}`);
    values.set(name, value);
  }
  const [provider, secret, file] = OPTIONS.map((option) => values.get(option));
  if ((file === undefined) === (provider === undefined))
    throw new Error("the agent verifies with --verify-webhook or with --traffic-policy-file: one of the two");
  return file === undefined ? verifying({ provider, secret }) : readPolicy(textOf(file));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new Error("the file of --traffic-policy-file cannot be read");
  }
}

/** What the options, and the module of version 2, stand for. */
const verifying = (config: object) =>
  policySchema.parse({ on_http_request: [{ actions: [{ type: "verify-webhook", config }] }] });

const configuration = z.discriminatedUnion("version", [
  z.strictObject({
    version: z.literal(3),
    agent: z.looseObject({}),
    endpoints: z.array(
      z.strictObject({
        name: z.string(),
        url: z.string().optional(),
        traffic_policy: policySchema.default([]),
        upstream: z.strictObject({ url: agentFields.upstream }),
      }),
    ),
  }),
  z.strictObject({
    version: z.literal(2),
    tunnels: z.record(
      z.string(),
      z.strictObject({
        proto: z.literal("http"),
        addr: agentFields.upstream,
        domain: z.string().optional(),
        schemes: z.array(z.enum(["http", "https"])).optional(),
        verify_webhook: z.strictObject({ provider: z.string(), secret: z.string().optional() }).optional(),
        traffic_policy: policySchema.default([]),
      }),
    ),
  }),
]);

function fromConfig(text: string, name: string | undefined): AgentEndpoint {
  const data = checked("the agent's configuration", configuration, text);
  const endpoints: [string, AgentEndpoint][] =
    data.version === 3
      ? data.endpoints.map((each) => [
          each.name,
          { verifications: each.traffic_policy, upstream: each.upstream.url },
        ])
      : Object.entries(data.tunnels).map(([name, { verify_webhook: module, traffic_policy, addr }]) => [
          name,
          { verifications: [...(module ? verifying(module) : []), ...traffic_policy], upstream: addr },
        ]);
  const [found, ...more] = endpoints.filter(([each]) => name === undefined || each === name);
  if (found && more.length === 0) return found[1];
  const names = endpoints.map(([each]) => each).join(", ");
  throw new Error(`the configuration has the endpoints ${names}; name one of them`);
}

const readPolicy = (policy: unknown) => checked("the traffic policy", policySchema, policy);

/** The data of a document, or of its text. */
function checked<T>(what: string, schema: z.ZodType<T>, document: unknown): T {
  const parsed = typeof document === "string" ? policyFromText(document) : { data: document };
  if ("problem" in parsed) throw new Error(`${what} ${parsed.problem.reason}`);
  const result = schema.safeParse(parsed.data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(
    `${what} has at ${issue?.path.join(".") || "the top"} what the stand-in does not do: ${issue?.message}`,
  );
}
