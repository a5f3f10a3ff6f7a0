import { z } from "zod";
import {
  canonicalJson,
  fromYaml,
  type JsonObject,
  MAX_LENGTH,
  type Parsed,
  UserError,
  yaml,
} from "../../provider/data/index";
import { vaultReference } from "../traffic-policy/webhooks/index";
import type { WebhookAgent, WebhookSettings } from "./webhookArgs";

/*
 * A webhook verification in each format of agents. Flags and version 2 of the configuration file can only express "verify every
 * request with this secret, and refuse the rest". Everything else needs a traffic policy.
 */

/** The checked inputs of a verification. */
export type CheckedVerification = Pick<WebhookSettings, "platform" | "enforce" | "expressions"> & {
  secret: string;
};

/** An agent's whole policy, for the file of `--traffic-policy-file`, as canonical JSON. */
export const policyText = (verification: CheckedVerification) => canonicalJson(agentPolicy(verification));

/** The command-line options, as an argument list. If flags are not enough, they include the option with the policy's file. */
export function agentOptions(
  verification: CheckedVerification,
  agent: WebhookAgent | undefined,
  policyFile: string,
): string[] {
  const { platform, secret } = verification;
  const address = agent?.url === undefined ? [] : ["--url", agent.url];
  const verifying = needsPolicy(verification)
    ? ["--traffic-policy-file", policyFile]
    : ["--verify-webhook", platform, "--verify-webhook-secret", secret];
  return [...address, ...verifying];
}

/** The agent's configuration file, without the agent's own token, which belongs in the agent's environment. */
export function agentConfig(
  verification: CheckedVerification,
  { name, url, upstream }: WebhookAgent & { name: string },
  version: 2 | 3,
): string {
  const trafficPolicy = agentPolicy(verification);
  if (version === 3) {
    const endpoint = defined({ name, url, traffic_policy: trafficPolicy, upstream: { url: upstream } });
    return version3([endpoint]);
  }
  const { platform: provider, secret } = verification;
  const tunnel = defined({
    proto: "http",
    addr: upstream,
    domain: url?.replace(/^\w+:\/\//, ""),
    schemes: url?.startsWith("http:") ? ["http"] : undefined,
    ...(needsPolicy(verification)
      ? { traffic_policy: trafficPolicy }
      : { verify_webhook: { provider, secret } }),
  });
  return version2({ [name]: tunnel });
}

function agentPolicy({ platform, secret, enforce, expressions }: CheckedVerification): JsonObject {
  const config = defined({ provider: platform, secret, enforce });
  return { on_http_request: [defined({ expressions, actions: [{ type: "verify-webhook", config }] })] };
}

/** Only a policy can let failures through, verify only some requests, or read the vault. */
function needsPolicy({ enforce, expressions, secret }: CheckedVerification): boolean {
  return enforce === false || expressions !== undefined || vaultReference(secret) !== undefined;
}

// The key `agent` is required, even without the agent's token.
const version3 = (endpoints: JsonObject[]) => yamlText({ version: 3, agent: {}, endpoints });
const version2 = (tunnels: JsonObject) => yamlText({ version: 2, tunnels });

/**
 * A configuration as YAML, with quotes around all texts and around the names of tunnels, which are the only keys of the
 * program. Parsers differ on whether plain words such as `yes` and `1_000` are text.
 */
function yamlText(data: JsonObject): string {
  const { Document, isMap, isScalar, Scalar } = yaml();
  const document = new Document(data);
  const tunnels = document.get("tunnels");
  for (const { key } of isMap(tunnels) ? tunnels.items : []) {
    if (isScalar(key)) key.type = Scalar.QUOTE_DOUBLE;
  }
  return document.toString({ defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
}

const defined = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const configSchema = z.discriminatedUnion("version", [
  z.strictObject({
    version: z.literal(3),
    agent: z.strictObject({}),
    endpoints: z.array(z.looseObject({ name: z.string() })),
  }),
  z.strictObject({ version: z.literal(2), tunnels: z.record(z.string(), z.looseObject({})) }),
]);

type Config = z.output<typeof configSchema>;

/**
 * One file with all configurations.
 *
 * @throws UserError with all mistakes.
 */
export function mergedConfig(texts: readonly unknown[]): string {
  if (texts.length === 0) throw new UserError("mergeAgentConfigs: there is no configuration to merge");
  const read = texts.map((text, index) => readConfig(text, index + 1));
  const configs = read.filter((each) => typeof each !== "string");
  const problems = [...read.filter((each) => typeof each === "string"), ...conflictsOf(configs)];
  if (problems.length > 0)
    throw new UserError(problems.map((problem) => `mergeAgentConfigs: ${problem}`).join("\n"));
  return configs[0]?.version === 2
    ? version2(
        Object.fromEntries(
          configs.flatMap((each) => (each.version === 2 ? Object.entries(each.tunnels) : [])),
        ),
      )
    : version3(configs.flatMap((each) => (each.version === 3 ? each.endpoints : [])));
}

/** A configuration, or its mistake without a quotation. */
function readConfig(text: unknown, place: number): Config | string {
  // Without an agent, the output is undefined in Node programs, null in others, and empty where Go dereferences it.
  if (text === undefined || text === null || text === "")
    return `configuration ${place} is missing; give its verification an agent, as in agent: { upstream: 8080 }`;
  const read: Parsed = typeof text === "string" ? fromYaml(text, MAX_LENGTH) : { data: text };
  if ("problem" in read) return `configuration ${place} ${read.problem}`;
  const parsed = configSchema.safeParse(read.data);
  return parsed.success
    ? parsed.data
    : `configuration ${place} is not the agentConfig of a webhook verification`;
}

function conflictsOf(configs: readonly Config[]): string[] {
  const names = configs.flatMap((each) =>
    each.version === 2 ? Object.keys(each.tunnels) : each.endpoints.map(({ name }) => name),
  );
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  return [
    ...(new Set(configs.map(({ version }) => version)).size > 1
      ? ["the configurations are of versions 2 and 3; give all verifications the same agentConfigVersion"]
      : []),
    ...twice.map((name) => `two endpoints have the name ${name}; give each verification its own agent.name`),
  ];
}
