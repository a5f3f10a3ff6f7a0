// What Pulumi runs, from this folder or as pulumi-resource-endpoints from the PATH.
const { join } = require("node:path");
const { servePlugin } = require("../../dist/provider/plugin/serve.js");
const warnings = require("../../dist/sdk/policyWarnings.js");
const { webhooks } = require("../../dist/sdk/webhooks/otherLanguages.js");

void servePlugin(join(__dirname, "schema.json"), { webhooks, warnings });
