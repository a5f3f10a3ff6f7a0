import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyReader } from "../provider/data/index";
import { closestName, isMapping, type JsonObject } from "../provider/data/index";
import { checkInputs } from "../provider/endpoint/inputs";
import { UrlRegistry } from "../provider/endpoint/urlRegistry";
import { UNKNOWN } from "../provider/pulumi/sentinels";
import { PACKAGE } from "../provider/pulumi/typeTokens";
import { isPublicBaseUrl, policyWarningsMode, settingFields } from "../provider/service/settings";
import {
  inputWarnings,
  logOrReturnWarnings,
  resourceWarnings,
  ruleWarnings,
  type WarnedInput,
} from "./policyWarnings";
import { isKnown, isMocked, perRun, programError, whenKnown } from "./programRun";
import { explicitProvider, type Provider } from "./provider";

/*
 * The checks of a constructor, before those of the provider. The engine stops at the first resource with a failed check, so the
 * mistakes of all others are reported here. A provider's check sees only one resource, so conflicts between resources are
 * found here and passed to it.
 */

/** What the checks of a run share: URLs by account, the number of resources, the first one with a mistake, finished checks. */
const checksOfRun = perRun(() => ({
  urls: new Map<Provider | undefined, UrlRegistry>(),
  resources: 0,
  firstMistaken: Number.POSITIVE_INFINITY,
  settingsAreChecked: false,
  warned: new Set<string>(),
}));

/**
 * Reports every mistake in the known inputs, each as one line. The first resource with mistakes continues to its check, so that
 * the engine reports them and ends the run. The others must not continue, because the engine could report their mistakes twice.
 *
 * @param problem Mistakes that the check cannot see, one a line; empty if there is none.
 * @throws RunError if an earlier resource has a mistake too.
 */
export async function reportMistakes(
  name: string,
  args: JsonObject,
  problem: pulumi.Output<string>,
): Promise<void> {
  const run = checksOfRun();
  const place = run.resources++;
  const mistakes: string[] = [];
  const note = (mistake: string) => {
    mistakes.push(mistake);
    run.firstMistaken = Math.min(run.firstMistaken, place);
  };
  const check = (news: JsonObject, about: string) => {
    for (const { input, reason } of checkInputs(news).failures) if (input === about) note(reason);
  };

  // Each input is checked alone, because an unknown one would hide the mistakes of the others.
  const checked = Object.entries(args).map(async ([input, value]) => {
    if (value === undefined) return;
    const output = pulumi.output(value);
    if (!isMocked()) await whenKnown(output, (known) => check({ [input]: known }, input));
  });
  if (isMocked()) return;
  if (args["url"] === undefined) check({}, "url");
  checked.push(whenKnown(problem, (problem) => problem !== "" && problem.split("\n").forEach(note)));

  const report = async () => {
    if (mistakes.length === 0) return;
    if (place > run.firstMistaken) {
      const errors = mistakes.map((mistake) => programError(`${name}: ${mistake}`));
      for (const error of errors) void Promise.reject(error);
      throw errors[0];
    }
    // The engine receives messages in order: those of the other resources first, before this one ends the run.
    await nextTurn();
    await pulumi.log.debug(`${name} has mistakes, which its check reports`);
  };
  // By the next turn of the event loop, all values that are already known have been checked.
  await nextTurn();
  await report();
  await Promise.all(checked);
  await report();
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Warns of probable mistakes in the expressions of a rule, unless they are secret. */
export async function warnOfRule(name: string, expressions: pulumi.Output<unknown>): Promise<void> {
  if (configuredWarnings() !== "on") return;
  await whenKnown(expressions, async (known) => {
    if (await pulumi.isSecret(expressions)) return;
    for (const warning of ruleWarnings(known)) warnOnce(`${name}: ${warning}`);
  });
}

/** The warnings for the known expressions of a rule if they are errors. */
export const ruleErrors = (known: unknown, isSecret: boolean): string[] =>
  configuredWarnings() === "error" && !isSecret ? ruleWarnings(known) : [];

const configuredWarnings = () =>
  policyWarningsMode(() => pulumi.runtime.getConfig("endpoints:policyWarnings"));

/** Shows each warning once. Two merges with the same mistake have the same warning, because a merge has no name. */
function warnOnce(text: string): void {
  const { warned } = checksOfRun();
  if (!warned.has(text)) void pulumi.log.warn(text);
  warned.add(text);
}

/** Warns of options without the effect that they have for other resources. */
export function warnOfOptions(name: string, options: pulumi.CustomResourceOptions | undefined): void {
  if (options?.customTimeouts)
    void pulumi.log.warn(
      `${name}: the option customTimeouts has no effect; endpoints:retryForSeconds bounds how long requests are repeated`,
    );
  if (options?.deletedWith)
    void pulumi.log.warn(
      `${name}: the option deletedWith leaves the endpoint live, because Pulumi skips its deletion; remove the option`,
    );
}

/** Warns of inputs that the service may refuse. Makes no request, and skips unknown and secret values. */
export async function warnOfInputs(
  name: string,
  { url, bindings, trafficPolicy, adopt, description, metadata }: { [input in WarnedInput]?: unknown },
  options: pulumi.CustomResourceOptions | undefined,
): Promise<void> {
  // These warnings ask only whether there is a policy.
  const isLater = pulumi.Output.isInstance(trafficPolicy) || isPromise(trafficPolicy);
  const given = [url, bindings, isLater && trafficPolicy, adopt, description, metadata];
  const [address, names, later, adopted, about, data] = await Promise.all(given.map(publicValue));
  const own = await publicValue(explicitProvider(options)?.baseUrl);
  const policy = isLater ? later : trafficPolicy;
  const inputs = {
    ...{ url: address, bindings: names, trafficPolicy: policy, adopt: adopted },
    ...{ description: about, metadata: data },
  };
  const configured = typeof own === "string" ? own : pulumi.runtime.getConfig("endpoints:baseUrl");
  const facts = {
    isPublicService: own !== UNKNOWN && isPublicBaseUrl(() => configured),
    isNew: options?.import === undefined,
  };
  for (const warning of inputWarnings(inputs, facts)) warnOnce(`${name}: ${warning}`);
}

/**
 * Warns of probable mistakes in a resource's policy. If `endpoints:policyWarnings` is `error`, returns them instead, one a line;
 * otherwise resolves to an empty text. Makes no request, and skips unknown and secret values.
 */
export async function warnOfPolicy(
  name: string,
  written: { trafficPolicy?: unknown; url?: unknown; bindings?: unknown },
  options: pulumi.CustomResourceOptions | undefined,
  readPolicy: PolicyReader,
  { isPart = false } = {},
): Promise<string> {
  const { trafficPolicy, url, bindings } = written;
  if (trafficPolicy === undefined) return "";
  const own = await publicValue(explicitProvider(options)?.policyWarnings);
  const configured = typeof own === "string" ? own : pulumi.runtime.getConfig("endpoints:policyWarnings");
  const mode = policyWarningsMode(() => configured);
  if (mode === "off") return "";
  const [policy, address, names] = await Promise.all([trafficPolicy, url, bindings].map(publicValue));
  const inputs = { trafficPolicy: policy, url: address, bindings: names };
  const find = () => resourceWarnings(inputs, readPolicy, { isPart });
  return logOrReturnWarnings(mode, find, (warning) => warnOnce(`${name}: ${warning}`)).join("\n");
}

/**
 * The value with its outputs resolved. Unknown and secret outputs become unknown values. Returns a promise only if the value
 * contains an output: most policies contain none, and a promise for each part would take most of the time.
 */
function publicValue(value: unknown): unknown {
  if (pulumi.Output.isInstance(value)) return publicOutput(value);
  if (value instanceof Promise) return value.then(publicValue, () => UNKNOWN);
  if (Array.isArray(value)) {
    const items = value.map(publicValue);
    return items.some(isPromise) ? Promise.all(items) : items;
  }
  if (!isMapping(value)) return value;
  const keys = Object.keys(value);
  const parts = keys.map((key) => publicValue(value[key]));
  const withKeys = (all: unknown[]) => Object.fromEntries(keys.map((key, index) => [key, all[index]]));
  return parts.some(isPromise) ? Promise.all(parts).then(withKeys) : withKeys(parts);
}

async function publicOutput(output: pulumi.Output<unknown>): Promise<unknown> {
  // `isSecret` would reject for an output that failed. Such an output is not known.
  if (!(await isKnown(output)) || (await pulumi.isSecret(output))) return UNKNOWN;
  return new Promise((resolve) => output.apply(resolve));
}

const isPromise = (value: unknown) => value instanceof Promise;

/**
 * The conflict between this resource and another resource of the program, such as one URL for both. It fails the check. Empty if
 * there is none, unknown while the URL is unknown.
 */
export function conflictAmongResources(
  name: string,
  { url, poolingEnabled, adopt }: { [input in "url" | "poolingEnabled" | "adopt"]?: unknown },
  options: pulumi.CustomResourceOptions | undefined,
): pulumi.Output<string> {
  const owner = Symbol(name);
  const { urls } = checksOfRun();
  const account = explicitProvider(options);
  const registry = urls.get(account) ?? new UrlRegistry();
  urls.set(account, registry);
  return pulumi.all([url, poolingEnabled, adopt]).apply(([url, pooled, adopt]) => {
    if (adopt !== undefined && options?.deleteBeforeReplace === false) {
      // The replacement would come first and adopt the endpoint. Then Pulumi would delete the same endpoint as the old one.
      return "adopt together with deleteBeforeReplace: false could delete the adopted endpoint; remove one of them";
    }
    return registry.register(url, adopt, { owner, name, pooled: pooled === true }) ?? "";
  });
}

/** The problem and the other mistakes of the resource. The mistakes count even while the problem is unknown. */
export function withMistakes(
  problem: pulumi.Output<string>,
  mistakes: (string | Promise<string>)[],
): pulumi.Output<string> {
  return pulumi.output(Promise.all(mistakes)).apply((mistakes): pulumi.Output<string> => {
    const all = mistakes.filter((mistake) => mistake !== "");
    if (all.length === 0) return problem;
    const added = whenKnown(problem, (known) => known && all.unshift(known));
    return pulumi.output(added.then(() => all.join("\n")));
  });
}

/** Warns, once a run, of settings that seem misspelt, and of an API key in plain text. */
export function warnOfSettings(): void {
  const run = checksOfRun();
  if (run.settingsAreChecked) return;
  run.settingsAreChecked = true;
  const keys = Object.keys(pulumi.runtime.allConfig());
  for (const key of keys) {
    const meant = misspeltSetting(key);
    if (meant !== undefined && !keys.includes(meant))
      void pulumi.log.warn(`${key} is no setting; did you mean ${meant}?`);
  }
  // The language host sets this variable with the configuration. Without it, nothing tells which settings are secret.
  const secretKeys = process.env["PULUMI_CONFIG_SECRET_KEYS"];
  if (secretKeys === undefined || !keys.includes("endpoints:apiKey")) return;
  // A key in plain text is in every clone of the repository.
  if (secretKeys.includes('"endpoints:apiKey"')) return;
  void pulumi.log.warn(
    "endpoints:apiKey is in the stack's configuration in plain text. Replace the key, and set the new one with `pulumi config set --secret endpoints:apiKey`, or only in ENDPOINTS_API_KEY.",
  );
}

/** The setting that a key of the configuration probably means. Undefined for a right key, and for a key of another package. */
function misspeltSetting(key: string): string | undefined {
  const [, namespace = "", name = ""] = /^([^:]+):(.+)$/.exec(key) ?? [];
  const names = [...Object.keys(settingFields), "adopt", "provider"];
  if (namespace === PACKAGE) {
    // A project with the name "endpoints" has its own settings with the same prefix.
    const near = names.includes(name) ? undefined : closestName(name, names);
    return near && `${PACKAGE}:${near}`;
  }
  // Settings with the project's name are the program's own, and ngrok:apiKey is a setting of another package.
  if (namespace === pulumi.getProject() || key === "ngrok:apiKey") return undefined;
  const isNear = namespace === "ngrok" || closestName(namespace, [PACKAGE, "pulumi-endpoints"]) !== undefined;
  const letters = name.toLowerCase();
  const same = names.find((setting) => setting.toLowerCase() === letters);
  return isNear && same ? `${PACKAGE}:${same}` : undefined;
}

/**
 * Bun can run programs, but Pulumi always starts Node providers with `node`. Without Node, Pulumi only reports that it could
 * not read the plugin.
 *
 * @throws RunError under Bun if no Node is on the PATH.
 */
export function assertNodeForProviders(
  versions: object = process.versions,
  path = process.env["PATH"] ?? "",
): void {
  if (!("bun" in versions)) return;
  const isThere = (folder: string) => ["node", "node.exe"].some((name) => existsSync(join(folder, name)));
  if (path.split(delimiter).some(isThere)) return;
  throw programError(
    "this program runs on Bun, but Pulumi runs its provider on Node.js, and there is no node on the PATH: install Node.js 20.19 or later beside Bun",
  );
}

/**
 * The provider's process resolves the package from the working directory. If that fails (a transitive install in a pnpm layout),
 * every operation would end in "Cannot find module".
 *
 * @throws RunError if the package cannot be found from the working directory.
 */
export function assertResolvable(): void {
  const from = process.cwd();
  try {
    // `require.resolve` with a path would always succeed: in this package, it finds the package by its own name.
    createRequire(join(from, "index.js")).resolve("pulumi-endpoints/provider");
  } catch {
    throw programError(
      `pulumi-endpoints cannot be found from ${from}, where Pulumi's provider process looks for it. Add it to the dependencies in the program's own package.json, and install them`,
    );
  }
}
