import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { alwaysPresent, endpointFields, refSchema } from "../../provider/api/wire";
import { environmentName, secretSettings, settingFields } from "../../provider/config";
import { endpointArgs, endpointsArgs } from "../../provider/lookup";
import { docsOf, membersOf, root } from "../../provider/plugin/schema/docs";
import { inputFields } from "../../provider/schema";
import { agentFields, webhookFields } from "../../sdk/webhooks/webhookSettings";
import { code, fieldsOf, fieldsOfMembers, inputTable, outputTable, table, withoutDefault } from "./tables";

/*
 * docs/reference.md, made of the schemas and of the comments on their fields. `npm run generate` writes it; a test
 * holds the page against the source.
 */

export function referencePage(): string {
  return `# Reference

What \`npm run generate\` makes of the source: change the comment on a field, not this page. Every input also takes a
value that is known later (\`pulumi.Input\`), and every output of a resource is a \`pulumi.Output\`.

- [\`CloudEndpoint\`](#cloudendpoint)
- [\`getEndpoint\`](#getendpoint), [\`getEndpoints\`](#getendpoints)
- [\`WebhookVerification\`](#webhookverification)
- [\`Provider\` and settings](#provider-and-settings)
- [Commands](#commands)
- [Testing](#testing)

${[...resource(), ...dataSources(), ...webhooks(), ...settings(), ...commands(), ...testing()].join("\n\n")}
`;
}

function resource(): string[] {
  const outputs = fieldsOf(endpointFields, docsOf("provider/api/wire.ts", "endpointFields").parts);
  const inputs = docsOf("provider/schema.ts", "inputFields").parts;
  const always = new Set<string>(["id", ...alwaysPresent]);
  return [
    "## CloudEndpoint",
    inputTable("input", fieldsOf(inputFields, inputs)),
    "Beside `urn` it has these outputs. One that does not apply is undefined.",
    outputTable(
      "output",
      outputs.map((field) => ({
        ...field,
        // The resource holds both as data, and the service's fields both as text.
        ...(field.name === "trafficPolicy" && { type: "object", text: "The policy as it is, as data." }),
        ...(field.name === "metadata" && {
          type: "object | string",
          text: "The metadata, as data where it is JSON.",
        }),
        required: always.has(field.name),
      })),
    ),
    `${docsOf("provider/api/wire.ts", "refSchema").text} So are \`domain\`, \`tcpAddr\` and others:`,
    outputTable("field", fieldsOf(refSchema.shape, docsOf("provider/api/wire.ts", "refSchema").parts)),
  ];
}

function dataSources(): string[] {
  const written = new Map(
    membersOf("sdk/endpoints.ts", "GetEndpointsArgs").map(({ name, text }) => [name, text]),
  );
  const filters = fieldsOf(endpointsArgs, docsOf("provider/lookup.ts", "endpointsArgs").parts);
  return [
    "## getEndpoint",
    "`getEndpoint(args)` gives a promise of one endpoint, `getEndpointOutput(args, options)` an output.",
    inputTable("argument", fieldsOf(endpointArgs, docsOf("provider/lookup.ts", "endpointArgs").parts)),
    `The result is ${lowered(docsOf("provider/api/wire.ts", "endpointFields").text)}`,
    outputTable("field", fieldsOf(endpointFields, docsOf("provider/api/wire.ts", "endpointFields").parts)),
    "## getEndpoints",
    "`getEndpoints(args)` gives a promise, `getEndpointsOutput(args, options)` an output. All filters given must hold.",
    inputTable(
      "filter",
      filters.map((field) => ({ ...field, text: written.get(field.name) || field.text })),
    ),
    outputTable("result", fieldsOfMembers(membersOf("sdk/endpoints.ts", "GetEndpointsResult"))),
  ];
}

function webhooks(): string[] {
  const file = "sdk/webhooks/webhookSettings.ts";
  return [
    "## WebhookVerification",
    inputTable("input", fieldsOf(webhookFields, docsOf(file, "webhookFields").parts)),
    `\`agent\` is ${lowered(docsOf(file, "agentFields").text)}`,
    inputTable("`agent`", fieldsOf(agentFields, docsOf(file, "agentFields").parts)),
    outputTable(
      "output",
      fieldsOfMembers(membersOf("sdk/webhooks/webhookVerification.ts", "WebhookVerification")),
    ),
  ];
}

function settings(): string[] {
  const { parts } = docsOf("provider/config.ts", "settingFields");
  const rows = Object.keys(settingFields).map((name) => {
    const { rest, standard } = withoutDefault(parts.get(name) ?? "");
    const secret = secretSettings.includes(name) ? " (secret)" : "";
    const missing = name === "apiKey" || name === "baseUrl" ? "**required**" : standard;
    return [`${code(`endpoints:${name}`)}${secret}`, code(environmentName(name)), missing, rest];
  });
  const [provider = ""] = docsOf("sdk/provider.ts", "Provider").text.split("\n\n");
  return [
    "## Provider and settings",
    `\`new Provider(name, args, options)\` is ${lowered(provider)} Its \`args\` are these settings, none required.`,
    "Each has two names besides; the stack's configuration wins over the environment. `endpoints:provider` (`ENDPOINTS_PROVIDER`) is `dynamic`, the default, or `plugin`: what serves `CloudEndpoint` ([plugin.md](plugin.md)).",
    table(["configuration", "environment", "default", "what it is"], rows),
  ];
}

/** The commands' own help, as a user gets it. */
function commands(): string[] {
  const main = join(root, "dist", "sdk", "commands", "main.js");
  const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { encoding: "utf8" });
  const names = [...run("--help").matchAll(/^ {2}([a-z][\w-]*) {2,}\S/gm)].map(([, name = ""]) => name);
  if (names.length === 0) throw new Error("the commands' help lists no command");
  const all = names.flatMap((name) => [`### ${name}`, `\`\`\`text\n${run(name, "--help").trim()}\n\`\`\``]);
  return ["## Commands", "`npx pulumi-endpoints <command>`; each tells its options with `--help`.", ...all];
}

function testing(): string[] {
  const types = "sdk/testing/types.ts";
  const members = (file: string, name: string) => fieldsOfMembers(membersOf(file, name));
  return [
    "## Testing",
    "What `pulumi-endpoints/testing` takes and gives; [testing.md](testing.md) tells how to use it.",
    inputTable("`TestStack.create`", [
      ...members(types, "StackOptions"),
      ...members("sdk/testing/testStack.ts", "TestStackOptions"),
    ]),
    inputTable("option of a run", members(types, "RunOptions")),
    inputTable("option of `import`", members(types, "ImportOptions")),
    outputTable("result of a run", members(types, "RunResult")),
    outputTable("`steps[n]`", members(types, "Step")),
    inputTable("`Emulator.start`", members("sdk/testing/emulator/emulator.ts", "EmulatorOptions")),
  ];
}

/** A comment as the end of a sentence. */
const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
