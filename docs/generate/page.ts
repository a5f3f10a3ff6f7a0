import { commands } from "../../sdk/commands/main";
import { commentsIn, methodsOf, outputOf } from "./docs";
import {
  agentInputs,
  endpointFilters,
  endpointInputs,
  endpointOutputs,
  endpointQueryFields,
  type Field,
  membersIn,
  settings,
  webhookInputs,
  webhookOutputs,
} from "./fields";
import { code, defaultAndMeaning, inputTable, outputTable, table } from "./tables";

/** The text of docs/reference.md, generated from the schemas and the comments on their fields. */
export async function referencePage(): Promise<string> {
  const sections = [
    ...resource(),
    ...dataSources(),
    ...policies(),
    ...webhooks(),
    ...provider(),
    ...(await commandHelp()),
    ...testing(),
  ];
  return `# Reference

Inputs also accept values that are known later (\`pulumi.Input\`). Outputs of resources are \`pulumi.Output\`s.

[\`CloudEndpoint\`](#cloudendpoint) · [\`getEndpoint\`](#getendpoint) · [\`getEndpoints\`](#getendpoints) · [\`rules\`](#rules-and-unlistedaction) · [\`WebhookVerification\`](#webhookverification) · [\`Provider\` and settings](#provider-and-settings) · [Commands](#commands) · [Testing](#testing)

${sections.join("\n\n")}
`;
}

function resource(): string[] {
  const ref = commentsIn("provider/service/contract.ts").get("Ref") ?? "";
  return [
    "## CloudEndpoint",
    inputTable("input", endpointInputs()),
    "Besides `urn` it has these outputs. Outputs that do not apply are undefined. `trafficPolicy` and `metadata` are text: compact JSON with sorted keys, or unchanged if they are no JSON or YAML. Parse them with `readJson`.",
    outputTable("output", endpointOutputs()),
    `\`{ id, uri }\` is ${lowered(ref)}`,
  ];
}

function dataSources(): string[] {
  // A program in TypeScript can also give a function.
  const written = new Map(
    membersIn("sdk/dataSources.ts", "GetEndpointsArgs").map(({ name, text }) => [name, text]),
  );
  return [
    "## getEndpoint",
    "`getEndpoint(args)` returns a promise of one endpoint, `getEndpointOutput(args, options)` an output. Give either `id` or `url`.",
    inputTable("argument", endpointQueryFields()),
    "The result has the fields of [`CloudEndpoint`'s outputs](#cloudendpoint) that apply to the endpoint's type, in the plain form. Only `id` is always present. `trafficPolicy` and `metadata` are the service's text: parse them with `readJson`.",
    "## getEndpoints",
    "`getEndpoints(args)` returns a promise, `getEndpointsOutput(args, options)` an output. All given filters must match.",
    inputTable(
      "filter",
      endpointFilters().map((field) => ({ ...field, text: written.get(field.name) || field.text })),
    ),
    outputTable("result", membersIn("sdk/dataSources.ts", "GetEndpointsResult")),
  ];
}

function policies(): string[] {
  const file = "sdk/traffic-policy/policy/rules.ts";
  const [about = ""] = commentsIn(file).get("unlistedAction")?.split("\n\n") ?? [];
  return [
    "## rules and unlistedAction",
    "`rules` makes the most frequent rules for `on_http_request`. A `config` has [the keys of the action](../sdk/traffic-policy/ACTIONS.md), `options` the rule's `name` and `expressions`.",
    table(
      ["rule", "meaning"],
      methodsOf(file, "Rules").map(([call, text]) => [code(`rules.${call}`), text]),
    ),
    `\`unlistedAction(type, config?)\` is ${lowered(about)}`,
  ];
}

function webhooks(): string[] {
  const agent = commentsIn("sdk/webhooks/webhookArgs.ts").get("WebhookAgent") ?? "";
  return [
    "## WebhookVerification",
    inputTable("input", webhookInputs()),
    `\`agent\`: ${lowered(agent)}`,
    inputTable("`agent`", agentInputs()),
    outputTable("output", webhookOutputs()),
  ];
}

/** The settings with their environment variables, defaults and meanings. */
function settingsTable(): string {
  const rows = settings().map((setting) => [
    `${code(`endpoints:${setting.name}`)}${setting.secret ? " (secret)" : ""}`,
    code(setting.environment),
    ...defaultAndMeaning(setting),
  ]);
  rows.push([
    "`endpoints:adopt`",
    "–, and no input of `Provider`",
    "none",
    "The ids of endpoints that new resources of this stack [take over](adoption.md#adopt-without-an-edit-of-the-program), separated by commas.",
  ]);
  return table(["configuration", "environment", "default", "meaning"], rows);
}

function provider(): string[] {
  const [about = ""] = commentsIn("sdk/provider.ts").get("Provider")?.split("\n\n") ?? [];
  return [
    "## Provider and settings",
    `\`new Provider(name, args, options)\` is ${lowered(about)} Its \`args\` are these settings, all optional.`,
    "Every setting can also be set in the stack's configuration or in the environment; the configuration wins. An empty value counts as unset. `endpoints:provider` (`ENDPOINTS_PROVIDER`) is not an input of `Provider`. It chooses what serves `CloudEndpoint`: `dynamic`, the default, or `plugin` ([plugin](plugin.md)). `endpoints:adopt` ([adoption](adoption.md#adopt-without-an-edit-of-the-program)) exists only in the configuration, and `ENDPOINTS_LOG` ([the log of requests](troubleshooting.md#the-log-of-requests)) only in the environment.",
    settingsTable(),
  ];
}

/** The parts of each command's `--help`, without the option itself: texts are not wrapped here. */
async function commandHelp(): Promise<string[]> {
  const helps = Object.keys(commands).map(async (name) => {
    const [about = "", usage = "", options = "", ...notes] = (await outputOf([name, "--help"])).split("\n\n");
    const rows = optionsIn(options);
    const listed = rows.length === 0 ? [] : [table(["option", "meaning"], rows)];
    const line = code(usage.replace(/^Usage: /, ""));
    const texts = [`### ${name}`, unwrapped(`${about} ${line}`), ...listed, ...notes.map(unwrapped)];
    return [...texts, ...(name === "drift" ? [driftReport()] : [])].join("\n\n");
  });
  return ["## Commands", "`npx pulumi-endpoints <command>`.", ...(await Promise.all(helps))];
}

/** The options that a command's `--help` lists, each in a line that may continue. */
const optionsIn = (help: string): string[][] =>
  [...help.matchAll(/^ {2}(--\S+(?: \S+)?) {2,}(.+(?:\n {4,}.+)*)/gm)]
    .filter(([, option]) => option !== "--help")
    .map(([, option = "", meaning = ""]) => [
      code(option),
      // A star and its escape are text here.
      meaning.replace(/\s*\n\s*/g, " ").replace(/[\\*]/g, "\\$&"),
    ]);

const unwrapped = (text: string) => text.replaceAll("\n", " ");

/** Where the report of `drift` has what each schema describes. */
const PLACES: Record<string, string> = {
  reportSchema: "",
  stackSchema: "stacks[].",
  driftedSchema: "stacks[].drifted[].",
  seenSchema: "stacks[].drifted[].",
  changeSchema: "stacks[].drifted[].changes[].",
  repairSchema: "stacks[].drifted[].repair.",
  pendingCreateSchema: "stacks[].pendingCreates[].",
  uncheckedSchema: "stacks[].unchecked[].",
  accountSchema: "accounts[].",
};

/** The fields of `drift --json`, apart from those whose names say all. */
function driftReport(): string {
  const comments = [...commentsIn("sdk/commands/drift/report.ts")];
  const rows = Object.entries(PLACES).flatMap(([schema, place]) =>
    comments
      .filter(([path]) => path.startsWith(`${schema}/`))
      .map(([path, text]) => [code(path.replace(`${schema}/`, place).replaceAll("/", ".")), text]),
  );
  return [
    "#### The report as JSON",
    "`--json` writes a report of `version` 1. Later releases may add fields; the version increases if a field is removed or changes its meaning.",
    table(["field of the report", "meaning"], rows),
  ].join("\n\n");
}

function testing(): string[] {
  const types = "sdk/test-engine/types.ts";
  const emulator = "sdk/testing/emulator";
  return [
    "## Testing",
    "The options and results of `pulumi-endpoints/testing`. [Testing](testing.md) explains how to use them.",
    inputTable("`TestStack.create`", stackOptions(types)),
    inputTable("option of a run", membersIn(types, "RunOptions")),
    outputTable("result of a run", explained(membersIn(types, "RunResult"))),
    outputTable("`steps[n]`", explained(membersIn(types, "Step"))),
    inputTable("`endpointMocks`", membersIn("sdk/testing/mocks.ts", "EndpointMocksOptions")),
    inputTable("`Emulator.start`", membersIn(`${emulator}/emulator.ts`, "EmulatorOptions")),
    // The defaults make every field optional.
    inputTable(
      "`emulator.setBehaviour`",
      membersIn(`${emulator}/behaviour.ts`, "Behaviour").map((field) => ({ ...field, required: false })),
    ),
    inputTable("`emulator.fetch`", membersIn("sdk/traffic-policy/answer/options.ts", "FetchOptions")),
  ];
}

/** The options of the test engine, but those that `TestStack` sets, and with its own comments. */
function stackOptions(types: string): Field[] {
  const engines = membersIn(types, "StackOptions");
  const own = membersIn("sdk/testing/testStack.ts", "TestStackOptions");
  const all = new Map([...engines, ...own].map((field) => [field.name, field]));
  return [...all.values()].filter(({ name }) => name !== "ownPackages" && name !== "service");
}

/** The fields apart from those whose names say all. */
const explained = (fields: Field[]): Field[] => fields.filter(({ text }) => text !== "");

/** A comment with a lower-case first letter, to continue a sentence. */
const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
