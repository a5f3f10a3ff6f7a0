import { isDeepStrictEqual } from "node:util";
import {
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  validateResourceOfType,
  validateStackResourcesOfType,
} from "@pulumi/policy";
import { CloudEndpoint, readJson } from "pulumi-endpoints";

/*
 * The rules of the pack, for endpoints with both providers. The rules of one resource check its inputs. The rule of the stack
 * checks the outputs of all resources.
 */

/** Actions that let only some requests or connections through. */
const RESTRICTING = new Set<string>([
  "basic-auth",
  "deny",
  "jwt-validation",
  "oauth",
  "openid-connect",
  "restrict-ips",
  "terminate-tls",
  "verify-webhook",
]);

/** Keys whose values are secrets, by action. */
const SECRETS: Record<string, string[]> = {
  "basic-auth": ["credentials"],
  oauth: ["client_secret"],
  "openid-connect": ["client_secret"],
  "verify-webhook": ["secret"],
};

/** The text for a secret that `pulumi policy analyze` cannot decrypt. The rules skip it. */
const REDACTED: unknown = "[secret]";

const VAULT = /\$\{\s*secrets\.get\(/;

export const restricted: ResourceValidationPolicy = {
  name: "public-endpoint-is-restricted",
  description: "The policy of a public endpoint restricts or authenticates its traffic.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(CloudEndpoint, (endpoint, _args, report) => {
    if (endpoint.trafficPolicy === REDACTED) return;
    const isPublic = (endpoint.bindings ?? ["public"]).includes("public") && !isInternal(endpoint.url);
    if (isPublic && !actionsOf(endpoint.trafficPolicy).some(({ type }) => RESTRICTING.has(type)))
      report(`${endpoint.url} is public, and its policy has none of these: ${[...RESTRICTING].join(", ")}.`);
  }),
};

export const owned: ResourceValidationPolicy = {
  name: "endpoint-has-owner",
  description: "The metadata names the owner.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(CloudEndpoint, (endpoint, _args, report) => {
    if (endpoint.metadata === REDACTED) return;
    const metadata = dataOf(endpoint.metadata) as { owner?: unknown } | undefined;
    if (typeof metadata?.owner !== "string" || metadata.owner === "")
      report(`${endpoint.url} has no owner: add metadata: { owner: "…" }.`);
  }),
};

export const secretsInVault: ResourceValidationPolicy = {
  name: "secrets-come-from-the-vault",
  description: "A policy refers to secrets in the service's vault instead of holding them.",
  enforcementLevel: "mandatory",
  validateResource: validateResourceOfType(CloudEndpoint, (endpoint, _args, report) => {
    if (endpoint.trafficPolicy === REDACTED) return;
    for (const { type, config } of actionsOf(endpoint.trafficPolicy)) {
      for (const key of SECRETS[type] ?? []) {
        const values = [config?.[key]].flat();
        if (values.some((value) => typeof value === "string" && !VAULT.test(value)))
          report(
            `${endpoint.url}: ${key} of ${type} is in plain text. Use \${secrets.get('vault', 'name')}.`,
          );
      }
    }
  }),
};

export const poolsAgree: StackValidationPolicy = {
  name: "pool-has-one-policy",
  description: "The endpoints of a pool have the same policy, because any of them may get a request.",
  enforcementLevel: "mandatory",
  validateStack: validateStackResourcesOfType(CloudEndpoint, (endpoints, _args, report) => {
    const policies = new Map<string, unknown>();
    for (const { url, trafficPolicy } of endpoints) {
      if (trafficPolicy === REDACTED) continue;
      const policy = dataOf(trafficPolicy);
      if (!policies.has(url)) policies.set(url, policy);
      else if (!isDeepStrictEqual(policy, policies.get(url)))
        report(`${url} is a pool whose endpoints have different policies.`);
    }
  }),
};

const isInternal = (url: string) => new URL(url).hostname.endsWith(".internal");

/** A document as data. Inputs are data or text. Outputs are text, or in a preview of the dynamic provider the inputs. */
const dataOf = (value: unknown): unknown => (typeof value === "string" ? readJson(value) : value);

interface Action {
  type: string;
  config?: Record<string, unknown>;
}

function actionsOf(policy: unknown): Action[] {
  const phases = (dataOf(policy) ?? {}) as Record<string, { actions?: Action[] }[]>;
  return Object.values(phases).flatMap((rules) => rules.flatMap(({ actions }) => actions ?? []));
}
