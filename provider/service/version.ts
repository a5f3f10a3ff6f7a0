/**
 * The version of this build. `npm run build` adds the commit, and the build of a release (`RELEASE=yes`) drops `+dev`, so that
 * only a release calls itself one. Pulumi would warn of `0.1.0-dev`, because it precedes the version in the schema.
 */
export const VERSION = "0.1.0+dev";
