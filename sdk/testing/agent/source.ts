import { readFileSync } from "node:fs";
import { z } from "zod";
import { policyFromText } from "../../../provider/endpoint/documents";
import { agentFields } from "../../webhooks/webhookChecks";

/*
 * The forms in which the agent can be configured. As with the agent, an unknown key or option is an error, so that spelling
 * mistakes are found. Messages contain no values, because a value can be a secret in the wrong place.
 */

/** The configuration. Set exactly one of `options`, `config` and `trafficPolicy`. */
export interface AgentSource {
  /** Command-line options: the arguments after `http <upstream>`. */
  options?: readonly string[];
  /** The text of a configuration file: YAML, version 2 or 3. */
  config?: string;
  /** The traffic policy of an agent or of a cloud endpoint: an object, or text with JSON or YAML. */
  trafficPolicy?: object | string;
  /** The name of an endpoint in `config`. Default: its only endpoint. */
  endpoint?: string;
}

interface AgentEndpoint {
  verifications: Verification[];
  /** A port or a URL. Only configuration files contain it. */
  upstream?: number | string;
}

/** @throws Error if the configuration is invalid. */
export function readSource({ options, config, trafficPolicy, endpoint }: AgentSource): AgentEndpoint {
  if ([options, config, trafficPolicy].filter((form) => form !== undefined).length !== 1)
    throw new Error("the agent needs options, a config or a trafficPolicy: exactly one of the three");
  if (options !== undefined) return { verifications: fromOptions(options) };
  if (config !== undefined) return fromConfig(config, endpoint);
  return { verifications: readPolicy(trafficPolicy) };
}

/*
 * The supported part of traffic policies: verification, and forwarding to the application. All other policies are refused at
 * the start, because the stand-in would ignore a part of them.
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
    .tuple([], { error: "expressions are not evaluated; test each verification without them" })
    .optional(),
  actions: z.array(action).min(1),
});

/** Parses a policy into the verifications before the first `forward-internal`, in order. */
const policySchema = z
  .strictObject({ on_http_request: z.array(rule).default([]) })
  .transform(({ on_http_request: rules }) => {
    const actions = rules.flatMap(({ actions }) => actions);
    const end = actions.findIndex(({ type }) => type === "forward-internal");
    return actions
      .slice(0, end < 0 ? undefined : end)
      .flatMap((action) => (action.type === "verify-webhook" ? [action.config] : []));
  });

/** A verification. A request that fails it is refused if `enforce` is true. */
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
      throw new Error(
        `argument ${index + 1} is not one of these options with a value: ${OPTIONS.join(", ")}`,
      );
    values.set(name, value);
  }
  const [provider, secret, file] = OPTIONS.map((option) => values.get(option));
  if ((file === undefined) === (provider === undefined))
    throw new Error("the options need --verify-webhook or --traffic-policy-file: exactly one of the two");
  return file === undefined ? verifying({ provider, secret }) : readPolicy(textOf(file));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new Error("the file of --traffic-policy-file cannot be read");
  }
}

/** The policy that the options, or `verify_webhook` in version 2, stand for. */
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
  throw new Error(
    `the configuration has the endpoints ${names}; select one of them with the option endpoint`,
  );
}

const readPolicy = (policy: unknown) => checked("the traffic policy", policySchema, policy);

/** Checks a document, which can be data or text. */
function checked<T>(what: string, schema: z.ZodType<T>, document: unknown): T {
  const parsed = typeof document === "string" ? policyFromText(document) : { data: document };
  if ("problem" in parsed) throw new Error(`${what} ${parsed.problem.reason}`);
  const result = schema.safeParse(parsed.data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(
    `the stand-in does not support ${what} at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
  );
}
