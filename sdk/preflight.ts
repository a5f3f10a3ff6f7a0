import * as pulumi from "@pulumi/pulumi";
import { checkInputs, PROBLEM_KEY } from "../provider/check";
import type { JsonObject } from "../provider/schema";
import { UrlRegistry } from "../provider/urlRegistry";
import type { CloudEndpointArgs } from "./cloudEndpoint";
import type { Provider } from "./provider";
import { explicitProvider } from "./provider";
import { perRun } from "./run";

/*
 * What a constructor can see before the engine does. The engine stops at the first resource whose check fails, so each
 * resource reports its own mistakes here; and no check sees more than one resource, so what two of them do to each
 * other is found here and handed to the check.
 */

/** The URLs that are taken, by account, and what has been said once. */
const thisRun = perRun(() => ({ urls: new Map<Provider | undefined, UrlRegistry>(), warnedOfKey: false }));

/**
 * Reports every mistake in those inputs whose values are known. Resolves when the engine has been told: a resource that
 * is registered before that could fail, and end the program, while the mistakes of the others are still on their way.
 */
export async function reportProblems(name: string, args: JsonObject): Promise<void> {
  const told: Promise<void>[] = [];
  const report = (news: JsonObject, about: (property: string) => boolean) => {
    for (const { property, reason } of checkInputs(news).failures) {
      // Not as the resource's own message: that would wait for its registration, which is what is going to fail.
      if (about(property)) told.push(pulumi.log.error(`${name}: ${reason}`));
    }
  };

  // Each input by itself, since one that is unknown would hold back what can be said of the others.
  for (const [input, value] of Object.entries(args)) {
    if (value === undefined) continue;
    const property = input === PROBLEM_KEY ? "" : input;
    pulumi
      .output(value)
      .apply((known) => report({ [input]: known }, (failed) => failed.split(".")[0] === property));
  }
  if (args["url"] === undefined) report({}, () => true);

  // Values that are known at once have been looked at when the event loop comes round.
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(told);
}

/**
 * What is wrong with this resource beside the others of the program, for its check to fail with; undefined where
 * nothing is, and unknown as long as the URL is.
 */
export function problemAmongResources(
  name: string,
  args: CloudEndpointArgs,
  options: pulumi.CustomResourceOptions | undefined,
): pulumi.Output<string | undefined> {
  const { url, poolingEnabled, adopt } = args;
  const owner = Symbol(name);
  const { urls } = thisRun();
  const account = explicitProvider(options);
  const registry = urls.get(account) ?? new UrlRegistry();
  urls.set(account, registry);
  return pulumi.all([url, poolingEnabled, adopt]).apply(([url, pooled, adopt]) => {
    if (adopt !== undefined && adopt !== false && options?.deleteBeforeReplace === false) {
      // With the new endpoint "created" first, it would take the old one over, and the old one's deletion remove it.
      return "adopt together with deleteBeforeReplace: false could delete the endpoint that it took over; take one of them out";
    }
    return registry.register(url, adopt, { owner, name, pooled: pooled === true });
  });
}

/** Warns, once a run, of an API key that the stack's configuration holds in plain text, and so every clone of it. */
export function warnOfPlainKey(): void {
  const run = thisRun();
  // Set by the language host beside the configuration; without it nothing can be said.
  const secretKeys = process.env["PULUMI_CONFIG_SECRET_KEYS"];
  if (
    run.warnedOfKey ||
    secretKeys === undefined ||
    pulumi.runtime.getConfig("endpoints:apiKey") === undefined
  )
    return;
  if (secretKeys.includes('"endpoints:apiKey"')) return;
  run.warnedOfKey = true;
  void pulumi.log.warn(
    "endpoints:apiKey stands in the stack's configuration in plain text. Replace the key, and set the new one with `pulumi config set --secret endpoints:apiKey`, or in ENDPOINTS_API_KEY alone.",
  );
}
