/** The package's version. A test holds it against `package.json`. */
export const VERSION = "0.1.0";

/** The plugin's name, and that of the package in Pulumi's terms. */
export const PACKAGE = "endpoints";

/**
 * The type under which states hold the resource, by what serves it: `dynamic` is a string in the state that Pulumi's
 * own process for such strings runs, `plugin` is this package's plugin. For ever the same.
 */
export const TYPES = {
  dynamic: `pulumi-nodejs:dynamic/${PACKAGE}:CloudEndpoint`,
  plugin: `${PACKAGE}:index:CloudEndpoint`,
} as const;

/** Under which the mocks of the test kit hold the account that data sources ask, for every copy of this package. */
export const MOCKED_ACCOUNT = Symbol.for("pulumi-endpoints:mockedAccount");

/** The type of the plugin's explicit providers. */
export const PROVIDER_TYPE = `pulumi:providers:${PACKAGE}`;
