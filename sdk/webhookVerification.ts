import * as pulumi from "@pulumi/pulumi";
import { agentConfig, agentOptions, policyText } from "./agentForms";
import { programError } from "./programError";
import { nearestPlatform, platformInfo, secretSource } from "./webhookPlatforms";
import { expectDeliveries } from "./webhookQuota";
import {
  agentProblem,
  checkField,
  secretProblem,
  unknownField,
  type WebhookField,
  type WebhookSettings,
  type WebhookSettingsWritten,
} from "./webhookSettings";

const TYPE = "endpoints:index:WebhookVerification";

/** Inputs at every depth, as programs may write them. */
type Inputs<T> = { [K in keyof T]: InputOf<T[K]> };
type InputOf<T> = [T] extends [readonly (infer E)[] | undefined]
  ? pulumi.Input<pulumi.Input<E>[]> | undefined
  : [T] extends [object | undefined]
    ? pulumi.Input<Inputs<NonNullable<T>>> | undefined
    : pulumi.Input<T>;

/** The inputs of a webhook verification. `secret` is required for every platform but `sns`. */
export type WebhookVerificationArgs = Inputs<WebhookSettingsWritten> &
  ({ secret: pulumi.Input<string> } | { platform: "sns" });

/**
 * Lets only those webhooks through that are signed with a platform's secret: the configuration of an agent, and the
 * policy for endpoints, made from the platform's name and the secret.
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
 * It creates nothing on the service. Mistakes in the inputs fail the preview as far as they are known then; a platform
 * that the catalogue does not have, and more deliveries than a free account verifies, are warnings.
 */
export class WebhookVerification extends pulumi.ComponentResource {
  /** The platform's identifier. */
  readonly platform: pulumi.Output<string>;

  /**
   * The agent's command-line options, as an argument list for `http <upstream>`. Agents of version 3 still take them,
   * and call them deprecated. Flags cannot say `enforce: false`, `expressions` or a reference to the vault: then it is
   * the option that names a policy file, `<name>.policy.json`, into which the output `trafficPolicy` belongs. Secret.
   */
  readonly agentOptions: pulumi.Output<string[]>;

  /**
   * The agent's configuration file, YAML in the version of `agentConfigVersion`. The agent's own token is not in it:
   * keep that in the agent's own file, and give it both with `--config`. Undefined without `agent`. Secret.
   */
  readonly agentConfig: pulumi.Output<string | undefined>;

  /**
   * A whole traffic policy for an agent, canonical JSON, as `--traffic-policy-file` takes it. For a cloud endpoint,
   * whose policy must also answer, see `mergeTrafficPolicy`. Secret.
   */
  readonly trafficPolicy: pulumi.Output<string>;

  /** How to get the secret, or rotate it, in a sentence. */
  readonly secretSource: pulumi.Output<string>;

  /** Whether the object is a WebhookVerification, also one of another copy of this package. */
  static override isInstance(object: unknown): object is WebhookVerification {
    return pulumi.Resource.isInstance(object) && "__pulumiType" in object && object.__pulumiType === TYPE;
  }

  /**
   * @param name The component's name in the program; also the agent's name for it, unless `agent.name` is given.
   * @param args What is to be verified; see each input.
   */
  constructor(name: string, args: WebhookVerificationArgs, options?: pulumi.ComponentResourceOptions) {
    super(TYPE, name, {}, options);
    const { platform, verification, agent, version } = settle(name, args);
    this.platform = platform;
    this.secretSource = platform.apply(secretSource);
    this.trafficPolicy = pulumi.secret(verification.apply(policyText));
    this.agentOptions = pulumi.secret(
      verification.apply((verification) => agentOptions(verification, `${name}.policy.json`)),
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

/**
 * The inputs, checked. Each is looked at by itself, so that one which is unknown in a preview does not hide the
 * mistakes of the others.
 */
function settle(name: string, args: WebhookVerificationArgs) {
  const fail = (problems: string[]): never => {
    throw programError(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  };
  const checked = <K extends WebhookField>(field: K) =>
    pulumi.output(args[field] as pulumi.Input<object | undefined>).apply((value): WebhookSettings[K] => {
      const result = checkField(field, value);
      return "problems" in result ? fail(result.problems) : result.value;
    });
  const unknown = Object.keys(args).flatMap((field) => unknownField(field) ?? []);
  if (unknown.length > 0) fail(unknown);

  const platform = checked("platform");
  const secret = pulumi.all([platform, checked("secret")]).apply(([platform, secret]) => {
    const problem = secretProblem(platform, secret);
    return problem ? fail([`secret ${problem}. ${secretSource(platform)}`]) : secret;
  });
  const verification = pulumi
    .all([platform, secret, checked("enforce"), checked("expressions")])
    .apply(([platform, secret, enforce, expressions]) => ({ platform, secret, enforce, expressions }));

  const version = checked("agentConfigVersion").apply((given) => given ?? 3);
  const agent = pulumi.all([checked("agent"), version]).apply(([agent, version]) => {
    const problem = agent && agentProblem(agent, version);
    return problem ? fail([problem]) : agent;
  });

  platform.apply((platform) => warnOfPlatform(name, platform));
  void tellOfUnknown(name, pulumi.output(args.secret));
  pulumi
    .all([checked("expectedDeliveriesPerMonth"), checked("plan")])
    .apply(([deliveries, plan]) => deliveries !== undefined && expectDeliveries(name, deliveries, plan));
  return { platform, verification, agent, version };
}

function warnOfPlatform(name: string, platform: string): void {
  if (platformInfo(platform)) return;
  const near = nearestPlatform(platform);
  const hint = near
    ? `did you mean ${near}?`
    : "if the service has learnt it since, all is well; otherwise it refuses the policy.";
  void pulumi.log.warn(`${name}: platform ${JSON.stringify(platform)} is not in the catalogue; ${hint}`);
}

/** Says, in a preview, that a secret could not be looked at. */
async function tellOfUnknown(name: string, secret: object): Promise<void> {
  // Pulumi keeps it on the output, and does not declare so. Where it rejects, the mistake has been told elsewhere.
  const known = await Promise.resolve("isKnown" in secret ? secret.isKnown : true).catch(() => true);
  if (known === false)
    void pulumi.log.info(`${name}: the secret is not known yet; \`pulumi up\` checks its form.`);
}
