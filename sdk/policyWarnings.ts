import * as pulumi from "@pulumi/pulumi";
import { areWarningsOff } from "../provider/api/config";
import { isMapping } from "../provider/api/json";
import { UNKNOWN } from "../provider/endpoint/documents";
import { type PolicyReader, resourceWarnings } from "../provider/policy/resourceWarnings";
import { isKnown } from "./programRun";
import { explicitProvider } from "./provider";

/**
 * Warns of probable mistakes in a resource's policy, unless `endpoints:policyWarnings` is `off`. Makes no request, and skips
 * unknown and secret values. If the whole policy is secret, it only warns if no action answers.
 */
export async function warnOfPolicy(
  name: string,
  written: { trafficPolicy?: unknown; url?: unknown; bindings?: unknown },
  options: pulumi.CustomResourceOptions | undefined,
  readPolicy: PolicyReader,
): Promise<void> {
  const { trafficPolicy, url, bindings } = written;
  if (trafficPolicy === undefined) return;
  const own = await shown(explicitProvider(options)?.policyWarnings);
  const configured = typeof own === "string" ? own : pulumi.runtime.getConfig("endpoints:policyWarnings");
  if (areWarningsOff(() => configured)) return;
  const [policy, address, names] = await Promise.all([trafficPolicy, url, bindings].map(shown));
  const isSecret = policy === UNKNOWN && pulumi.Output.isInstance(trafficPolicy);
  const whole = isSecret ? await valueIn(trafficPolicy) : policy;
  const inputs = { trafficPolicy: whole, url: address, bindings: names };
  const warnings = resourceWarnings(inputs, readPolicy, isSecret);
  for (const warning of warnings) void pulumi.log.warn(`${name}: ${warning}`);
}

/**
 * The value with its outputs resolved. Unknown and secret outputs become unknown values. Returns a promise only if the value
 * contains an output: most policies contain none, and a promise for each part would take most of the time.
 */
function shown(value: unknown): unknown {
  if (pulumi.Output.isInstance(value)) return shownOutput(value);
  if (value instanceof Promise) return value.then(shown, () => UNKNOWN);
  if (Array.isArray(value)) {
    const items = value.map(shown);
    return items.some(isPromise) ? Promise.all(items) : items;
  }
  if (!isMapping(value)) return value;
  const keys = Object.keys(value);
  const parts = keys.map((key) => shown(value[key]));
  const withKeys = (all: unknown[]) => Object.fromEntries(keys.map((key, index) => [key, all[index]]));
  return parts.some(isPromise) ? Promise.all(parts).then(withKeys) : withKeys(parts);
}

async function shownOutput(output: pulumi.Output<unknown>): Promise<unknown> {
  return (await pulumi.isSecret(output)) ? UNKNOWN : valueIn(output);
}

async function valueIn(output: pulumi.Output<unknown>): Promise<unknown> {
  if (!(await isKnown(output))) return UNKNOWN;
  return new Promise((resolve) => output.apply(resolve));
}

const isPromise = (value: unknown) => value instanceof Promise;
