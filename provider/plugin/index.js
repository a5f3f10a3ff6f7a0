// What Pulumi runs, from this folder or as pulumi-resource-endpoints from the PATH.
const { join } = require("node:path");
const { main } = require("../../dist/provider/plugin/main.js");

void main(join(__dirname, "schema.json"));
