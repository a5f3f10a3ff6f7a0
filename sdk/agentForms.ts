import { Document, isMap, isScalar, Scalar } from "yaml";
import { canonicalJson } from "../provider/document";
import type { JsonObject } from "../provider/schema";
import { vaultReference } from "./webhookSecret";
import type { AgentSettings, WebhookSettings } from "./webhookSettings";

/*
 * One verification in each of the forms that agents take. Flags and version 2 of the configuration file can only say
 * "verify every request with this secret, and refuse the rest"; whatever says more is carried by a traffic policy.
 */

/** What is to be verified. */
export type Verification = Pick<WebhookSettings, "platform" | "secret" | "enforce" | "expressions">;

/** The agent's endpoint, once it has a name. */
export type NamedAgent = AgentSettings & { name: string };

/** The rule of a policy's `on_http_request` that verifies. */
export function verificationRule({ platform, secret, enforce, expressions }: Verification): JsonObject {
  const config = defined({ provider: platform, secret, enforce });
  return defined({ expressions, actions: [{ type: "verify-webhook", config }] });
}

/** A whole policy for an agent, which forwards what the policy lets through. */
export function agentPolicy(verification: Verification): JsonObject {
  return { on_http_request: [verificationRule(verification)] };
}

/** The policy as the file for `--traffic-policy-file`: canonical JSON. */
export const policyText = (verification: Verification) => canonicalJson(agentPolicy(verification));

/** The command-line options, as an argument list. Where flags cannot say it, the option that names the policy's file. */
export function agentOptions(verification: Verification, policyFile: string): string[] {
  const { platform, secret } = verification;
  if (needsPolicy(verification)) return ["--traffic-policy-file", policyFile];
  return ["--verify-webhook", platform, ...(secret === undefined ? [] : ["--verify-webhook-secret", secret])];
}

/** The agent's configuration file, whole but for the agent's own token, which belongs in the agent's environment. */
export function agentConfig(verification: Verification, agent: NamedAgent, version: 2 | 3): string {
  return configText(version === 2 ? version2(verification, agent) : version3(verification, agent));
}

/**
 * A configuration as YAML. Quotes around all texts, and around the names of tunnels, which are the only keys that a
 * program chooses: parsers differ on which plain words (`yes`, `1_000`) are no text, and these can be any.
 */
export function configText(data: JsonObject): string {
  const document = new Document(data);
  const tunnels = document.get("tunnels");
  for (const { key } of isMap(tunnels) ? tunnels.items : []) {
    if (isScalar(key)) key.type = Scalar.QUOTE_DOUBLE;
  }
  return document.toString({ defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
}

function version3(verification: Verification, { name, url, upstream }: NamedAgent): JsonObject {
  const endpoint = { name, url, traffic_policy: agentPolicy(verification), upstream: { url: upstream } };
  // The key `agent` is required, though the token that it is for stays out.
  return { version: 3, agent: {}, endpoints: [defined(endpoint)] };
}

function version2(verification: Verification, { name, url, upstream }: NamedAgent): JsonObject {
  const { platform: provider, secret } = verification;
  const tunnel = defined({
    proto: "http",
    addr: upstream,
    domain: url?.replace(/^\w+:\/\//, ""),
    schemes: url?.startsWith("http:") ? ["http"] : undefined,
    ...(needsPolicy(verification)
      ? { traffic_policy: agentPolicy(verification) }
      : { verify_webhook: defined({ provider, secret }) }),
  });
  return { version: 2, tunnels: { [name]: tunnel } };
}

/** Whether only a policy can say it: to go on in spite of a failure, to verify some requests, to ask the vault. */
export function needsPolicy({ enforce, expressions, secret }: Verification): boolean {
  return (
    enforce === false ||
    expressions !== undefined ||
    (secret !== undefined && vaultReference(secret) !== undefined)
  );
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
