import * as pulumi from "@pulumi/pulumi";
import type { SettingName, settingFields } from "../provider/config";
import { PACKAGE, PROVIDER_TYPE } from "../provider/tokens";

/** What each setting is written as: what it is used as, but for the one that has a notation of its own. */
type Written<Name extends SettingName> = Name extends "recoverWithin"
  ? string
  : NonNullable<ReturnType<(typeof settingFields)[Name]>>;

/** The settings of an account. One that is left out comes from the stack's configuration, then from the environment. */
export type ProviderArgs = {
  [Name in keyof typeof settingFields]?: pulumi.Input<Written<Name>> | undefined;
};

/**
 * An account of the service, for programs that use several. Resources and data sources that have it in their options
 * are its account's, and are served by the plugin, whatever `endpoints:host` says.
 *
 * ```ts
 * const theirs = new Provider("theirs", { apiKey: config.requireSecret("theirKey") });
 * new CloudEndpoint("shop", { url: "https://shop.example.com" }, { provider: theirs });
 * ```
 *
 * The key is a secret in the state. What is wrong with the settings is told at the preview. A change of the settings
 * never replaces an endpoint.
 */
export class Provider extends pulumi.ProviderResource {
  /** Whether the object is a Provider of this package, also one of another copy of it. */
  static override isInstance(object: unknown): object is Provider {
    return (
      pulumi.Resource.isInstance(object) && "__pulumiType" in object && object.__pulumiType === PROVIDER_TYPE
    );
  }

  /** @internal Unknown as long as a setting is, as where it comes from a resource that is still to be created. */
  readonly isKnown: pulumi.Output<true>;

  constructor(name: string, args: ProviderArgs = {}, options?: pulumi.ResourceOptions) {
    super(
      PACKAGE,
      name,
      { ...args, ...(args.apiKey !== undefined && { apiKey: pulumi.secret(args.apiKey) }) },
      options,
    );
    this.isKnown = pulumi.unsecret(pulumi.output(args)).apply(() => true as const);
  }
}
