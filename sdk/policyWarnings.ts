import * as pulumi from "@pulumi/pulumi";
import { isMapping } from "../provider/api/json";
import { areWarningsOff } from "../provider/config";
import { UNKNOWN } from "../provider/document";
import { policyNotices } from "../provider/policy/notices";
import { isKnown } from "./programRun";
import { explicitProvider } from "./provider";

/**
 * Warns of probable mistakes in a resource's policy, unless `endpoints:policyWarnings` is `off`. Makes no request. Skips
 * values that are unknown or secret.
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

/** The value with the outputs in it resolved. Those that are unknown or secret become unknown values. */
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
