/*
 * The first import of each entry: the package, the provider, the plugin, the commands and the test kit. An older Node.js would run a
 * preview, and fail at the first request.
 */

const MIN_MAJOR = 20;

if (Number.parseInt(process.versions.node, 10) < MIN_MAJOR)
  throw new Error(
    `pulumi-endpoints needs Node.js ${MIN_MAJOR} or a newer one, and this is ${process.versions.node}: install a newer one, or put it first on the PATH`,
  );
