/** The name of the plugin and of the Pulumi package. */
export const PACKAGE = "endpoints";

/**
 * The resource's type in states, by its provider: `dynamic` is the provider string that Pulumi's dynamic provider host runs,
 * `plugin` is this package's plugin. The types never change.
 */
export const TYPES = {
  dynamic: `pulumi-nodejs:dynamic/${PACKAGE}:CloudEndpoint`,
  plugin: `${PACKAGE}:index:CloudEndpoint`,
} as const;

/** The component's type in states, in every language. */
export const WEBHOOK_TYPE = `${PACKAGE}:index:WebhookVerification`;

/** The type of the plugin's explicit providers. */
export const PROVIDER_TYPE = `pulumi:providers:${PACKAGE}`;
