import * as pulumi from "@pulumi/pulumi";
import { isMapping } from "../provider/api/json";
import { areWarningsOff } from "../provider/config";
import { UNKNOWN } from "../provider/document";
import { policyNotices } from "../provider/policy/notices";
import { isKnown } from "./programRun";
import { explicitProvider } from "./provider";

/**
 * Warns of what is probably wrong with the policy of a resource, unless `endpoints:policyWarnings` is `off`. Makes no
 * request. Values that are unknown or secret are skipped.
 */
export async function warnOfPolicy(
  name: string,
  inputs: { trafficPolicy?: unknown; url?: unknown; bindings?: unknown },
  options: pulumi.CustomResourceOptions | undefined,
): Promise<void> {
  if (inputs.trafficPolicy === undefined) return;
  const own = await shown(explicitProvider(options)?.policyWarnings);
  const configured = typeof own === "string" ? own : pulumi.runtime.getConfig("endpoints:policyWarnings");
  if (areWarningsOff(() => configured)) return;
  const { trafficPolicy, url, bindings } = inputs;
  const all = await Promise.all([trafficPolicy, url, bindings].map(shown));
  const notices = policyNotices({ trafficPolicy: all[0], url: all[1], bindings: all[2] });
  for (const notice of notices) void pulumi.log.warn(`${name}: ${notice}`);
}

/** A value with every output in it as what it holds; as unknown where that is not known, or secret. */
async function shown(value: unknown): Promise<unknown> {
  if (pulumi.Output.isInstance(value)) {
    if (!(await isKnown(value)) || (await pulumi.isSecret(value))) return UNKNOWN;
    return new Promise((resolve) => value.apply(resolve));
  }
  if (value instanceof Promise) return value.then(shown, () => UNKNOWN);
  if (Array.isArray(value)) return Promise.all(value.map(shown));
  if (!isMapping(value)) return value;
  const parts = Object.entries(value).map(async ([key, part]) => [key, await shown(part)]);
  return Object.fromEntries(await Promise.all(parts));
}
