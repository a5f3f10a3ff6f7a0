import { commands } from "../../sdk/commands/main";
import {
  type ActionInfo,
  actions,
  type PhaseInfo,
  phases,
  ruleKeys,
  webhookPlatforms,
} from "../../sdk/traffic-policy/index";
import {
  agentInputs,
  endpointFilters,
  endpointInputs,
  endpointOutputs,
  type Field,
  settings,
  webhookInputs,
} from "./fields";
import { keysOf } from "./policyActions";
import { code, withoutDefault } from "./tables";

/** The section of docs/llms.md that is generated. */
const SECTION = /(?<=\n## Reference\n\n)[\s\S]*?(?=\n\n## )/;

/** Replaces the short reference in the page for assistants. */
export function withShortReference(page: string): string {
  if (!SECTION.test(page)) throw new Error("docs/llms.md has no section ## Reference before another");
  return page.replace(SECTION, shortReference);
}

function shortReference(): string {
  const outputs = (required: boolean) =>
    list(endpointOutputs().flatMap((one) => (one.required === required ? [one.name] : [])));
  // Their types are plain, and one of them is no input of `Provider`.
  const allSettings = [...settings(), { name: "provider", required: false, text: PROVIDER }];
  return [
    "- Inputs of `CloudEndpoint`, each also as an output or a promise:",
    ...endpointInputs().map((field) => `  - ${signature(field)}: ${withoutDefault(field.text).rest}`),
    `- Outputs of \`CloudEndpoint\`, always: ${outputs(true)}. Undefined if they do not apply: ${outputs(false)}.`,
    `- Filters of \`getEndpoints\`, all optional: ${signatures(endpointFilters())}. In \`urlPattern\`, \`*\` matches any text, and \`\\*\` a star.`,
    `- Inputs of \`WebhookVerification\`: ${signatures(webhookInputs())}. Of \`agent\`: ${signatures(agentInputs())}.`,
    `- Platforms: ${Object.keys(webhookPlatforms).join(", ")}.`,
    `- Policies: each phase is a list of rules with ${list(Object.keys(ruleKeys))}. Actions, with the keys of their \`config\` (\`?\` is optional, \`[]\` a list, \`{}\` a mapping, \`10s\` a duration):`,
    ...Object.entries<PhaseInfo>(phases).map(actionsOf),
    `- Settings, in the configuration as \`endpoints:baseUrl\`, in the environment as \`ENDPOINTS_BASE_URL\`: ${signatures(allSettings.map((one) => ({ ...one, type: "" })))}.`,
    `- Commands, \`npx pulumi-endpoints COMMAND --help\`: ${commandList()}.`,
  ].join("\n");
}

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
    const keys = keysOf(info);
    return home === phase && keys.length > 0 ? `${type} {${keys.join(", ")}}` : type;
  });
  return `  - ${code(phase)} (of ${protocols.join(", ")} endpoints): ${shown.join("; ")}`;
}

const commandList = () =>
  Object.entries(commands)
    .map(([name, [about]]) => `${code(name)} (${about})`)
    .join(", ");

const list = (names: string[]) => names.map(code).join(", ");
