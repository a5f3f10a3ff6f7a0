/** The package's version. A test compares it with `package.json`. */
export const VERSION = "0.1.0";

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

/** The global symbol under which the test kit's mocks keep the account for data sources, for all copies of this package. */
export const MOCKED_ACCOUNT = Symbol.for("pulumi-endpoints:mockedAccount");

/** The type of the plugin's explicit providers. */
export const PROVIDER_TYPE = `pulumi:providers:${PACKAGE}`;
