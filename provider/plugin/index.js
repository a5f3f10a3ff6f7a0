// What Pulumi runs, from this folder or as pulumi-resource-endpoints from the PATH.
const { join } = require("node:path");
const { servePlugin } = require("../../dist/provider/plugin/serve.js");

void servePlugin(join(__dirname, "schema.json"));
