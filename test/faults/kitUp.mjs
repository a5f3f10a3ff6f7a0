// Runs `up` on the test kit's engine, in a process that a test can kill: node kitUp.mjs PROGRAM STATE_FILE BASE_URL API_KEY
import { TestStack } from "pulumi-endpoints/testing";

const [program, stateFile, baseUrl, apiKey] = process.argv.slice(2);
const config = { "endpoints:baseUrl": baseUrl, "endpoints:apiKey": { secret: apiKey } };
// The test hands the settings over in the environment, which a TestStack would not pass on.
const stack = await TestStack.create({ program, stateFile, config, env: process.env });
await stack.up({ skipPreview: true });
await stack.close();
