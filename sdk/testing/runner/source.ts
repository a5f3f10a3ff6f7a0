import { readFileSync } from "node:fs";
import { z } from "zod";
import { policyFromText } from "../../../provider/endpoint/documents";
import { agentFields } from "../../webhooks/webhookChecks";
import { policySchema, unsupportedAction } from "./runner";
import type { Policy } from "./values";

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
  policy: Policy;
  /** A port or a URL. Only configuration files contain it. */
  upstream?: number | string;
}

/** @throws Error if the configuration is invalid. */
export function readSource({ options, config, trafficPolicy, endpoint }: AgentSource): AgentEndpoint {
  if ([options, config, trafficPolicy].filter((form) => form !== undefined).length !== 1)
    throw new Error("the agent needs options, a config or a trafficPolicy: exactly one of the three");
  if (options !== undefined) return { policy: fromOptions(options) };
  if (config !== undefined) return fromConfig(config, endpoint);
  return { policy: readPolicy(trafficPolicy) };
}

const OPTIONS = ["--verify-webhook", "--verify-webhook-secret", "--traffic-policy-file"] as const;

function fromOptions(args: readonly string[]): Policy {
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

/** A policy without an action that the runner lacks, because such an agent would only fail later. */
const supportedPolicy = policySchema.check(({ value, issues }) => {
  const issue = unsupportedAction(value);
  if (issue) issues.push({ ...issue, code: "custom", input: undefined });
});

const NO_RULES = policySchema.parse({});

const joined = (first: Policy, then: Policy): Policy => ({
  ...then,
  on_http_request: [...first.on_http_request, ...then.on_http_request],
});

const configuration = z.discriminatedUnion("version", [
  z.strictObject({
    version: z.literal(3),
    agent: z.looseObject({}),
    endpoints: z.array(
      z.strictObject({
        name: z.string(),
        url: z.string().optional(),
        traffic_policy: supportedPolicy.default(NO_RULES),
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
        traffic_policy: supportedPolicy.default(NO_RULES),
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
          { policy: each.traffic_policy, upstream: each.upstream.url },
        ])
      : Object.entries(data.tunnels).map(([name, { verify_webhook: module, traffic_policy, addr }]) => [
          name,
          { policy: module ? joined(verifying(module), traffic_policy) : traffic_policy, upstream: addr },
        ]);
  const [found, ...more] = endpoints.filter(([each]) => name === undefined || each === name);
  if (found && more.length === 0) return found[1];
  const names = endpoints.map(([each]) => each).join(", ");
  throw new Error(
    `the configuration has the endpoints ${names}; select one of them with the option endpoint`,
  );
}

const readPolicy = (policy: unknown) => checked("the traffic policy", supportedPolicy, policy);

/** Checks a document, which can be data or text. */
function checked<T>(what: string, schema: z.ZodType<T>, document: unknown): T {
  const parsed = typeof document === "string" ? policyFromText(document) : { data: document };
  if ("problem" in parsed) throw new Error(`${what} ${parsed.problem}`);
  const result = schema.safeParse(parsed.data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(
    `the stand-in does not support ${what} at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
  );
}
