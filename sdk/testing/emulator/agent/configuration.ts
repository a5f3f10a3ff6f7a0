import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { policyFromText } from "../../../../provider/document";
import { readOptions } from "./options";
import { interpolationIn, type Policy, policySchema } from "./policy";

/*
 * What the agent can be started with. Every form is read strictly, as the agent reads it: a key or an option that it
 * does not know is an error, so that a configuration which works here has no misspelt part.
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
  /** Where a policy file that the options name lies. Default: the working directory. */
  folder?: string;
}

/** An endpoint of the agent, whatever it was configured with. */
export interface AgentEndpoint {
  policy: Policy;
  /** A port or a URL; undefined where the source names none. */
  upstream: number | string | undefined;
}

/** @throws Error that names what is wrong with the source, without its values. */
export function readSource(source: AgentSource): AgentEndpoint {
  const { options, config, trafficPolicy } = source;
  const given = [options, config, trafficPolicy].filter((form) => form !== undefined);
  if (given.length !== 1)
    throw new Error("the agent starts with options, a config or a trafficPolicy: one of the three");
  if (options !== undefined) return fromOptions(options, source.folder ?? process.cwd());
  if (config !== undefined) return fromConfig(config, source.endpoint);
  return { policy: readPolicy(trafficPolicy), upstream: undefined };
}

function fromOptions(options: readonly string[], folder: string): AgentEndpoint {
  const values = readOptions(options);
  const file = values["traffic-policy-file"];
  const provider = values["verify-webhook"];
  if (file !== undefined && provider !== undefined)
    throw new Error("the agent takes a policy file or --verify-webhook");
  if (file !== undefined) return { policy: readPolicy(textOf(resolve(folder, file))), upstream: undefined };
  if (provider === undefined) throw new Error("the options name nothing to verify");
  return { policy: verifying({ provider, secret: values["verify-webhook-secret"] }), upstream: undefined };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `: ${error.code}` : "";
    throw new Error(`the file of --traffic-policy-file cannot be read${code}`);
  }
}

const upstream = z.union([z.number().int(), z.string().min(1)]);
const verifyWebhook = z.strictObject({ provider: z.string(), secret: z.string().optional() });

const version3 = z.strictObject({
  version: z.literal(3),
  agent: z.looseObject({}),
  endpoints: z.array(
    z.strictObject({
      name: z.string().min(1),
      url: z.string().optional(),
      bindings: z.array(z.string()).max(1).optional(),
      metadata: z.string().optional(),
      description: z.string().optional(),
      traffic_policy: z.unknown().optional(),
      upstream: z.strictObject({
        url: upstream,
        protocol: z.string().optional(),
        proxy_protocol: z.unknown().optional(),
      }),
    }),
  ),
});

const version2 = z.strictObject({
  version: z.literal(2),
  authtoken: z.string().optional(),
  tunnels: z.record(
    z.string(),
    z.strictObject({
      proto: z.literal("http"),
      addr: upstream,
      domain: z.string().optional(),
      schemes: z.array(z.enum(["http", "https"])).optional(),
      verify_webhook: verifyWebhook.optional(),
      traffic_policy: z.unknown().optional(),
    }),
  ),
});

function fromConfig(text: string, name: string | undefined): AgentEndpoint {
  const parsed = z.discriminatedUnion("version", [version2, version3]).safeParse(dataOf(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `the agent cannot read its configuration: at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
    );
  }
  const endpoints = parsed.data.version === 2 ? tunnelsOf(parsed.data) : endpointsOf(parsed.data);
  const found = name === undefined ? [...endpoints.values()] : [endpoints.get(name)];
  const [endpoint] = found;
  if (found.length !== 1 || !endpoint)
    throw new Error(
      `the configuration has the endpoints ${[...endpoints.keys()].join(", ")}; name one of them`,
    );
  return endpoint;
}

/** Of what is wrong with the YAML only the place is told: the parser's own messages show the line itself. */
function dataOf(yaml: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new Error(`the agent's configuration is not valid YAML (line ${line}, column ${col})`);
  }
  try {
    return document.toJS();
  } catch {
    throw new Error("the agent's configuration is not valid YAML: an alias is unknown, or repeats too much");
  }
}

function endpointsOf({ endpoints }: z.output<typeof version3>): Map<string, AgentEndpoint> {
  return new Map(
    endpoints.map(({ name, traffic_policy: policy, upstream }) => [
      name,
      { policy: policyOr(policy), upstream: upstream.url },
    ]),
  );
}

function tunnelsOf({ tunnels }: z.output<typeof version2>): Map<string, AgentEndpoint> {
  return new Map(
    Object.entries(tunnels).map(([name, { addr, verify_webhook: module, traffic_policy: policy }]) => [
      name,
      { policy: module ? verifying(module) : policyOr(policy), upstream: addr },
    ]),
  );
}

/** The policy that the older forms stand for. */
function verifying({ provider, secret }: { provider: string; secret?: string | undefined }): Policy {
  const config = { provider, ...(secret === undefined ? {} : { secret }), enforce: true };
  return { on_http_request: [{ expressions: [], actions: [{ type: "verify-webhook", config }] }] };
}

/** An endpoint without a policy forwards all. */
const policyOr = (policy: unknown): Policy =>
  policy === undefined ? { on_http_request: [] } : readPolicy(policy);

function readPolicy(policy: unknown): Policy {
  const parsed = typeof policy === "string" ? policyFromText(policy) : { data: policy };
  if ("problem" in parsed) throw new Error(`the traffic policy ${parsed.problem.reason}`);
  const place = interpolationIn(parsed.data);
  if (place !== undefined) throw new Error(`the stand-in does not evaluate what is in \${ }: at ${place}`);
  const checked = policySchema.safeParse(parsed.data);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new Error(
    `the traffic policy has at ${issue?.path.join(".") || "the top"} what the stand-in does not do: ${issue?.message}`,
  );
}
