import * as pulumi from "@pulumi/pulumi";
import { didYouMean } from "../../provider/data/index";
import { WEBHOOK_TYPE } from "../../provider/pulumi/typeTokens";
import { ruleErrors, warnOfRule } from "../programChecks";
import { assertName, isKnown, isOfType, perRun, programError, type WithInputs } from "../programRun";
import { platformInfo } from "../traffic-policy/webhooks/index";
import { agentConfig, agentOptions, policyText } from "./agentConfig";
import { FREE_VERIFICATIONS_PER_MONTH, platformNames, secretSource } from "./secretSource";
import type { WebhookInputs, WebhookSettings } from "./webhookArgs";
import {
  agentMistake,
  areSwapped,
  checkField,
  type Mistake,
  secretMistake,
  unknownField,
  type WebhookField,
} from "./webhookChecks";

/** The inputs of a webhook verification. */
export interface WebhookVerificationArgs extends WithInputs<WebhookInputs> {}

/**
 * Accepts only webhooks that a platform has signed with its secret. From the platform's name and the secret, it makes the
 * configuration of an agent and the policy for endpoints.
 *
 * ```ts
 * const calendly = new WebhookVerification("calendly", {
 *   platform: "calendly",
 *   secret: new pulumi.Config().requireSecret("signingKey"),
 *   agent: { upstream: 8080 },
 * });
 * export const agentConfig = calendly.agentConfig; // for `pulumi stack output --show-secrets agentConfig`
 * ```
 *
 * It creates nothing on the service. Mistakes in known inputs fail the preview. An unknown platform, and more deliveries
 * than a free account verifies, cause warnings.
 */
export class WebhookVerification extends pulumi.ComponentResource {
  /** The identifier of the platform that sends the webhooks. */
  readonly platform: pulumi.Output<string>;

  /**
   * The agent's command-line options, as an argument list for `http <upstream>`, with the `url` of `agent`. Agents of version 3
   * accept them, but call the flags of the verification deprecated. Flags cannot express `enforce: false`, `expressions` or a
   * reference to the vault. In these cases the list names a policy file, `<name>.policy.json`: write the output `trafficPolicy` into it.
   * Secret.
   */
  readonly agentOptions: pulumi.Output<string[]>;

  /**
   * The agent's whole configuration file, YAML in the version of `agentConfigVersion`. It does not contain the agent's own
   * token; set `NGROK_AUTHTOKEN` in the environment. To run several verifications in one agent, use `mergeAgentConfigs`,
   * because agents do not merge the lists of several files. Missing without `agent`. Secret.
   */
  readonly agentConfig: pulumi.Output<string | undefined>;

  /**
   * A whole traffic policy for an agent, as JSON for `--traffic-policy-file`. A cloud endpoint's policy must also answer
   * requests: use `mergeTrafficPolicy`. Secret.
   */
  readonly trafficPolicy: pulumi.Output<string>;

  /** How to get or rotate the secret, in one sentence. */
  readonly secretSource: pulumi.Output<string>;

  /** Whether the object is a WebhookVerification, possibly of another copy of this package. */
  static override isInstance(object: unknown): object is WebhookVerification {
    return isOfType(object, WEBHOOK_TYPE);
  }

  /**
   * @param name The component's name in the program; also the agent's name for it, unless `agent.name` is given.
   * @throws RunError if the name is built from something else than text.
   * @param args The inputs; see each of them.
   */
  constructor(name: string, args: WebhookVerificationArgs, options?: pulumi.ComponentResourceOptions) {
    assertName("WebhookVerification", name);
    super(WEBHOOK_TYPE, name, {}, options);
    const { platform, verification, agent, version } = checkArgs(this, name, args);
    this.platform = platform;
    this.secretSource = platform.apply((platform) => secretSource(platform));
    this.trafficPolicy = pulumi.secret(verification.apply(policyText));
    this.agentOptions = pulumi.secret(
      pulumi
        .all([verification, agent])
        .apply(([verification, agent]) => agentOptions(verification, agent, `${name}.policy.json`)),
    );
    this.agentConfig = pulumi.secret(
      pulumi
        .all([verification, agent, version])
        .apply(
          ([verification, agent, version]) =>
            agent && agentConfig(verification, { ...agent, name: agent.name ?? name }, version),
        ),
    );
    this.registerOutputs({
      platform,
      secretSource: this.secretSource,
      trafficPolicy: this.trafficPolicy,
      agentOptions: this.agentOptions,
      agentConfig: this.agentConfig,
    });
  }
}

/** The mistakes that were found in the inputs of each component. */
const mistakesOf = new WeakMap<WebhookVerification, Mistake[]>();

/** @internal The mistakes in the known inputs of a new component. */
export async function mistakesOfInputs(component: WebhookVerification): Promise<readonly Mistake[]> {
  // By the next turn of the event loop, all values that are already known have been checked.
  await new Promise((resolve) => setImmediate(resolve));
  return mistakesOf.get(component) ?? [];
}

/**
 * Checks the inputs. Each is checked alone, so that an unknown input does not hide the mistakes of the others in a preview.
 * Mistakes fail the outputs, and nothing is thrown, so that one component does not hide the mistakes of the next one.
 */
function checkArgs(component: WebhookVerification, name: string, args: unknown) {
  const found: Mistake[] = [];
  mistakesOf.set(component, found);
  const fail = (...mistakes: Mistake[]): never => {
    found.push(...mistakes);
    throw programError(mistakes.map(({ path, reason }) => `${name}: ${path} ${reason}`).join("\n"));
  };
  const { given, mistakes } = argsByName(args);
  const names = pulumi.output(mistakes).apply((mistakes) => mistakes.length > 0 && fail(...mistakes));
  const checked = <K extends WebhookField>(field: K) =>
    pulumi.output(given[field] as pulumi.Input<object | undefined>).apply((value): WebhookSettings[K] => {
      const result = checkField(field, value);
      return "mistakes" in result ? fail(...result.mistakes) : result.value;
    });

  const platform = checked("platform");
  const secret = pulumi.all([platform, checked("secret")]).apply(([platform, secret]) => {
    if (areSwapped(platform, secret)) fail({ path: "platform", reason: "and secret seem to be swapped" });
    const problem = secretMistake(platform, secret);
    return problem || !secret
      ? fail({ path: "secret", reason: `${problem}. ${secretSource(platform)}` })
      : secret;
  });
  const isSecret = pulumi.isSecret(pulumi.output(given["expressions"]));
  const expressions = pulumi.all([checked("expressions"), isSecret]).apply(([expressions, isSecret]) => {
    const errors = ruleErrors(expressions, isSecret);
    return errors.length > 0 ? fail(...errors.map(asMistake)) : expressions;
  });
  const verification = pulumi
    .all([platform, secret, checked("enforce"), expressions, names])
    .apply(([platform, secret, enforce, expressions]) => ({ platform, secret, enforce, expressions }));

  const version = checked("agentConfigVersion").apply((version) => version ?? 3);
  const agent = pulumi.all([checked("agent"), version]).apply(([agent, version]) => {
    const mistake = agent && agentMistake(agent, version);
    return mistake ? fail(mistake) : agent;
  });

  void warnOfPlatform(name, platform, secret);
  void warnOfRule(name, expressions);
  void reportUnknownSecret(name, pulumi.output(given["secret"]));
  pulumi
    .all([checked("expectedDeliveriesPerMonth"), checked("plan")])
    .apply(
      ([deliveries, plan]) =>
        deliveries !== undefined && expectDeliveries(component, { name, deliveries, plan }),
    );
  return { platform, verification, agent, version };
}

/** The mistake that a warning such as `expressions[0] uses …` describes. */
function asMistake(warning: string): Mistake {
  const [path = "", ...reason] = warning.split(" ");
  return { path, reason: reason.join(" ") };
}

/** The inputs by name, and mistakes that are not about one input. Plain JavaScript may pass anything, or nothing. */
function argsByName(args: unknown): { given: Record<string, unknown>; mistakes: Mistake[] } {
  // Each missing input is reported by its own check.
  if (args === undefined || args === null) return { given: {}, mistakes: [] };
  const isLater = args instanceof Promise || pulumi.Output.isInstance(args);
  if (typeof args !== "object" || Array.isArray(args) || isLater)
    return {
      given: {},
      mistakes: [{ path: "the inputs", reason: "must be an object, as in { platform, secret }" }],
    };
  return { given: { ...args }, mistakes: Object.keys(args).flatMap((field) => unknownField(field) ?? []) };
}

/** An identifier's form. A text of another form could be a secret in the wrong place, and is not shown. */
const SHOWABLE = /^[a-z0-9_ .-]{1,40}$/i;

/** Warns of a platform that the catalogue lacks. Shows its name only if the name cannot be a secret. */
async function warnOfPlatform(
  name: string,
  platform: pulumi.Output<string>,
  secret: pulumi.Output<string | undefined>,
): Promise<void> {
  const known = await isKnown(secret);
  if (known === undefined) return;
  // Platform and secret could be swapped, which can only be checked when the secret is known.
  const mayShow = known && !(await pulumi.isSecret(platform));
  platform.apply((platform) => {
    if (platformInfo(platform)) return;
    const shown = mayShow && SHOWABLE.test(platform);
    const otherwise = "ignore this if the service now supports it; otherwise the service refuses the policy.";
    const hint = didYouMean(shown ? platform : "", platformNames, otherwise);
    const what = shown ? `platform ${JSON.stringify(platform)}` : "its platform";
    void pulumi.log.warn(`${name}: ${what} is not in the catalogue${hint}`);
  });
}

/** Reports, in a preview, that a secret could not be checked. */
async function reportUnknownSecret(name: string, secret: object): Promise<void> {
  if ((await isKnown(secret)) === false)
    void pulumi.log.info(`${name}: the secret is not known yet; \`pulumi up\` checks its form.`);
}

interface ExpectedDeliveries {
  name: string;
  deliveries: number;
  plan: WebhookSettings["plan"];
}

/** The expected deliveries of the run's components, and the sum in the last warning. */
const deliveriesOfRun = perRun(() => ({
  expected: new Map<object, ExpectedDeliveries>(),
  reported: 0,
  due: false,
}));

/**
 * Counts the expected deliveries of a component. The limit is the account's, so the warning names the sum of the stack's
 * components. It waits until all numbers that are already known have been counted. Components are distinguished as objects,
 * because two with the same name can have different parents.
 */
function expectDeliveries(component: object, expected: ExpectedDeliveries): void {
  const run = deliveriesOfRun();
  run.expected.set(component, expected);
  if (run.due) return;
  run.due = true;
  setImmediate(() => {
    run.due = false;
    const warning = quotaWarning([...run.expected.values()]);
    // In other languages, components arrive one by one, so the sum is reported again only when it has doubled.
    if (warning === undefined || warning.sum < 2 * run.reported) return;
    run.reported = warning.sum;
    void pulumi.log.warn(warning.text);
  });
}

/** The most components that a warning names. */
const MAX_NAMED = 5;

/** The warning if the sum is more than a free account verifies. A paid plan of one component counts for the account. */
export function quotaWarning(all: readonly ExpectedDeliveries[]): { sum: number; text: string } | undefined {
  const sum = all.reduce((total, { deliveries }) => total + deliveries, 0);
  const paid = all.some(({ plan = "free" }) => plan !== "free");
  if (paid || sum <= FREE_VERIFICATIONS_PER_MONTH) return undefined;
  const parts = all.slice(0, MAX_NAMED).map(({ name, deliveries }) => `${name} ${deliveries}`);
  if (all.length > MAX_NAMED) parts.push(`${all.length - MAX_NAMED} more`);
  return {
    sum,
    text: `${sum} webhook deliveries a month are expected (${parts.join(", ")}), and a free account verifies ${FREE_VERIFICATIONS_PER_MONTH} a month, all its endpoints together. Expect fewer, or move the account to a paid plan and set plan: "pay-as-you-go".`,
  };
}
