import {
  type ActionInfo,
  actions,
  type KeyInfo,
  type PhaseInfo,
  phases,
  ruleKeys,
} from "../../provider/policy/catalogue";
import { commands } from "../../sdk/commands/main";
import { webhookPlatforms } from "../../sdk/webhooks/platforms";
import {
  agentInputs,
  endpointFilters,
  endpointInputs,
  endpointOutputs,
  settingInputs,
  webhookInputs,
} from "./page";
import { code, type Field, withoutDefault } from "./tables";

/** The section of docs/llms.md that is generated. */
const SECTION = /(?<=\n## Reference\n\n)[\s\S]*?(?=\n\n## )/;

/** Replaces the short reference in the page for assistants. */
export async function withShortReference(page: string): Promise<string> {
  if (!SECTION.test(page)) throw new Error("docs/llms.md has no section ## Reference before another");
  const text = await shortReference();
  return page.replace(SECTION, () => text);
}

async function shortReference(): Promise<string> {
  const outputs = (required: boolean) => names(endpointOutputs().filter((one) => one.required === required));
  const settings = [...settingInputs(), { name: "provider", type: "", required: false, text: PROVIDER }];
  return [
    "- Inputs of `CloudEndpoint`, each also as an output or a promise:",
    ...endpointInputs().map((field) => `  - ${signature(field)}: ${withoutDefault(field.text).rest}`),
    `- Outputs of \`CloudEndpoint\`, always: ${outputs(true)}. Undefined if they do not apply: ${outputs(false)}.`,
    `- Filters of \`getEndpoints\`, all optional: ${signatures(endpointFilters())}. In \`urlPattern\`, \`*\` matches any text.`,
    `- Inputs of \`WebhookVerification\`: ${signatures(webhookInputs())}. Of \`agent\`: ${signatures(agentInputs())}.`,
    `- Platforms: ${Object.keys(webhookPlatforms).join(", ")}.`,
    `- Policies: each phase is a list of rules with ${list(Object.keys(ruleKeys))}. Actions, with the keys of their \`config\` (\`?\` is optional, \`[]\` a list, \`{}\` a mapping, \`10s\` a duration):`,
    ...Object.entries<PhaseInfo>(phases).map(actionsOf),
    `- Settings, in the configuration as \`endpoints:baseUrl\`, in the environment as \`ENDPOINTS_BASE_URL\`: ${signatures(settings)}.`,
    `- Commands, \`npx pulumi-endpoints COMMAND --help\`: ${commandList()}.`,
  ].join("\n");
}

/** The one setting that is no input of `Provider`. */
const PROVIDER = "Default: `dynamic`, or `plugin`.";

const signatures = (fields: Field[]) => fields.map(signature).join(", ");

/** A field's name and facts: `url` (string, required). */
function signature({ name, type, required, text }: Field): string {
  const standard = withoutDefault(text).standard.replaceAll("`", "");
  const facts = [type, required ? "required" : standard && `default: ${standard}`].filter(Boolean);
  return facts.length > 0 ? `${code(name)} (${facts.join(", ")})` : code(name);
}

/** The actions of a phase. Only one phase shows an action's keys: the one for requests, if it has the action. */
function actionsOf([phase, { protocols }]: [string, PhaseInfo]): string {
  const inPhase = Object.entries<ActionInfo>(actions).filter(([, info]) =>
    info.phases.some((one) => one === phase),
  );
  const shown = inPhase.map(([type, info]) => {
    const home = info.phases.find((one) => one === "on_http_request") ?? info.phases[0];
    const all = Object.entries<KeyInfo>(info.keys).map(keyText);
    return home === phase && all.length > 0 ? `${type} {${all.join(", ")}}` : type;
  });
  return `  - ${code(phase)} (of ${protocols.join(", ")} endpoints): ${shown.join("; ")}`;
}

/** A key with its form: `issuer: {allow_list: [{value}]}`, `rate: 10s`. */
function keyText([name, { kind, list, required, default: standard, values = [], keys }]: [
  string,
  KeyInfo,
]): string {
  const forms: Partial<Record<KeyInfo["kind"], string>> = { duration: "10s", map: "{}", "map of text": "{}" };
  const known = values.length < 4 ? values.map((value) => JSON.stringify(value)).join(" or ") : "";
  const one = keys ? `{${Object.entries<KeyInfo>(keys).map(keyText).join(", ")}}` : (forms[kind] ?? known);
  const form = list ? `[${one}]` : one;
  return `${name}${required && standard === undefined ? "" : "?"}${form && `: ${form}`}`;
}

const commandList = () =>
  Object.entries(commands)
    .map(([name, [about]]) => `${code(name)} (${about})`)
    .join(", ");

const names = (fields: Field[]) => list(fields.map(({ name }) => name));
const list = (all: string[]) => all.map(code).join(", ");
