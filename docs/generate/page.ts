import { alwaysPresent } from "../../provider/api/contract";
import { refSchema } from "../../provider/api/replySchemas";
import { environmentName, secretSettings, settingFields } from "../../provider/api/settings";
import { endpointFields, inputFields } from "../../provider/endpoint/fields";
import { endpointQuery, endpointsFilter } from "../../provider/endpoint/lookup";
import { commandLine, commands } from "../../sdk/commands/main";
import { agentFields, webhookFields } from "../../sdk/webhooks/webhookChecks";
import { docsOf, membersOf } from "./docs";
import {
  code,
  type Field,
  fieldsOf,
  fieldsOfMembers,
  inputTable,
  outputTable,
  table,
  withoutDefault,
} from "./tables";

/** The text of docs/reference.md, generated from the schemas and the comments on their fields. */
export async function referencePage(): Promise<string> {
  return `# Reference

\`npm run generate\` writes this page from the comments in the source. Inputs also accept values that are known later (\`pulumi.Input\`). Outputs
of resources are \`pulumi.Output\`s.

- [\`CloudEndpoint\`](#cloudendpoint)
- [\`getEndpoint\`](#getendpoint), [\`getEndpoints\`](#getendpoints)
- [\`WebhookVerification\`](#webhookverification)
- [\`Provider\` and settings](#provider-and-settings)
- [Commands](#commands)
- [Testing](#testing)

${[...resource(), ...dataSources(), ...webhooks(), ...settings(), ...(await commandHelp()), ...testing()].join("\n\n")}
`;
}

export const endpointInputs = (): Field[] =>
  fieldsOf(inputFields, docsOf("provider/api/contract.ts", "CloudEndpointWritten").parts);

export function endpointOutputs(): Field[] {
  const always = new Set<string>(["id", ...alwaysPresent]);
  const outputs = fieldsOf(endpointFields, docsOf("provider/api/contract.ts", "Endpoint").parts);
  return outputs.map((field) => ({ ...field, required: always.has(field.name) }));
}

function resource(): string[] {
  return [
    "## CloudEndpoint",
    inputTable("input", endpointInputs()),
    "Besides `urn` it has these outputs. Outputs that do not apply are undefined. `trafficPolicy` and `metadata` are text: compact JSON with sorted keys, or unchanged if they are no JSON or YAML. Parse them with `readJson`.",
    outputTable("output", endpointOutputs()),
    `${docsOf("provider/api/contract.ts", "Ref").text} \`domain\`, \`tcpAddr\` and others have this form:`,
    outputTable("field", fieldsOf(refSchema.shape, docsOf("provider/api/contract.ts", "Ref").parts)),
  ];
}

export const endpointFilters = (): Field[] =>
  fieldsOf(endpointsFilter, docsOf("provider/api/contract.ts", "EndpointsFilter").parts);

function dataSources(): string[] {
  const written = new Map(
    membersOf("sdk/dataSources.ts", "GetEndpointsArgs").map(({ name, text }) => [name, text]),
  );
  return [
    "## getEndpoint",
    "`getEndpoint(args)` returns a promise of one endpoint, `getEndpointOutput(args, options)` an output. Give either `id` or `url`.",
    inputTable(
      "argument",
      fieldsOf(endpointQuery, docsOf("provider/api/contract.ts", "EndpointQuery").parts),
    ),
    "The result has the fields of [`CloudEndpoint`'s outputs](#cloudendpoint) that apply to the endpoint's type, in the plain form. Only `id` is always present. `trafficPolicy` and `metadata` are the service's text: parse them with `readJson`.",
    "## getEndpoints",
    "`getEndpoints(args)` returns a promise, `getEndpointsOutput(args, options)` an output. All given filters must match.",
    inputTable(
      "filter",
      endpointFilters().map((field) => ({ ...field, text: written.get(field.name) || field.text })),
    ),
    outputTable("result", fieldsOfMembers(membersOf("sdk/dataSources.ts", "GetEndpointsResult"))),
  ];
}

const WEBHOOK_ARGS = "sdk/webhooks/webhookArgs.ts";

export const webhookInputs = (): Field[] =>
  // The schema accepts a missing secret, because the component reports it with the place where the platform keeps it.
  fieldsOf(webhookFields, docsOf(WEBHOOK_ARGS, "WebhookSettingsWritten").parts).map((field) =>
    field.name === "secret" ? { ...field, required: true } : field,
  );

export const agentInputs = (): Field[] => fieldsOf(agentFields, docsOf(WEBHOOK_ARGS, "WebhookAgent").parts);

function webhooks(): string[] {
  return [
    "## WebhookVerification",
    inputTable("input", webhookInputs()),
    `\`agent\`: ${lowered(docsOf(WEBHOOK_ARGS, "WebhookAgent").text)}`,
    inputTable("`agent`", agentInputs()),
    outputTable(
      "output",
      fieldsOfMembers(membersOf("sdk/webhooks/webhookVerification.ts", "WebhookVerification")),
    ),
  ];
}

export function settingInputs(): Field[] {
  const { parts } = docsOf("provider/api/settings.ts", "settingFields");
  return Object.keys(settingFields).map((name) => {
    const required = name === "apiKey" || name === "baseUrl";
    return { name, type: "", required, text: parts.get(name) ?? "" };
  });
}

/** The settings with their environment variables, defaults and meanings. */
export function settingsTable(): string {
  const rows = settingInputs().map(({ name, required, text }) => {
    const { rest, standard } = withoutDefault(text);
    const secret = secretSettings.includes(name) ? " (secret)" : "";
    const missing = required ? "**required**" : standard;
    return [`${code(`endpoints:${name}`)}${secret}`, code(environmentName(name)), missing, rest];
  });
  return table(["configuration", "environment", "default", "meaning"], rows);
}

function settings(): string[] {
  const [provider = ""] = docsOf("sdk/provider.ts", "Provider").text.split("\n\n");
  return [
    "## Provider and settings",
    `\`new Provider(name, args, options)\` is ${lowered(provider)} Its \`args\` are these settings, all optional.`,
    "Every setting can also be set in the stack's configuration or in the environment; the configuration wins. An empty value counts as unset. `endpoints:provider` (`ENDPOINTS_PROVIDER`) is not an input of `Provider`. It chooses what serves `CloudEndpoint`: `dynamic`, the default, or `plugin` ([plugin](plugin.md)). `ENDPOINTS_ACCEPT_ACCOUNT=1` ([reliability](reliability.md#when-an-endpoint-counts-as-gone)) and `ENDPOINTS_LOG` ([the log of requests](troubleshooting.md#the-log-of-requests)) exist only in the environment.",
    settingsTable(),
  ];
}

/** The output of each command's `--help`. */
async function commandHelp(): Promise<string[]> {
  const sections = ["## Commands", "`npx pulumi-endpoints <command>`. Each command has `--help`."];
  for (const name of Object.keys(commands)) {
    let help = "";
    const stdout = { write: (text: string) => (help += text) };
    await commandLine([name, "--help"], { stdout, stderr: process.stderr });
    sections.push(`### ${name}`, `\`\`\`text\n${help.trim()}\n\`\`\``);
  }
  return sections;
}

function testing(): string[] {
  const types = "sdk/testing/types.ts";
  const members = (file: string, name: string) => fieldsOfMembers(membersOf(file, name));
  return [
    "## Testing",
    "The options and results of `pulumi-endpoints/testing`. [Testing](testing.md) explains how to use them.",
    inputTable("`TestStack.create`", [
      ...members(types, "StackOptions"),
      ...members("sdk/testing/testStack.ts", "TestStackOptions"),
    ]),
    inputTable("option of a run", members(types, "RunOptions")),
    inputTable("option of `import`", members(types, "ImportOptions")),
    outputTable("result of a run", members(types, "RunResult")),
    outputTable("`steps[n]`", members(types, "Step")),
    inputTable("`endpointMocks`", members("sdk/testing/mocks.ts", "EndpointMocksOptions")),
    inputTable("`Emulator.start`", members("sdk/testing/emulator/emulator.ts", "EmulatorOptions")),
    inputTable("`emulator.fetch`", members("sdk/testing/runner/account.ts", "FetchOptions")),
  ];
}

/** A comment with a lower-case first letter, to continue a sentence. */
const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
