import { ACTION_PAGES, type ActionInfo, actions, type KeyInfo } from "../../sdk/traffic-policy/policy/index";
import { commentsIn } from "./docs";
import { code, table } from "./tables";

const INTRODUCTION = `# Actions of traffic policies

All actions that this version knows, from the public service's documentation of August 2026. Each links to the service's page, and [the editor](README.md#in-an-editor)
describes each key. \`?\` marks an optional key, \`[]\` a list, \`{}\` a mapping, \`10s\` a duration; \`=\` shows the default. **Bold** actions answer: nothing after them runs.`;

/** The page ACTIONS.md of sdk/traffic-policy: every action with its phases and keys. */
export function actionsPage(): string {
  const comments = commentsIn("sdk/traffic-policy/policy/catalogue.ts");
  const rows = Object.entries<ActionInfo>(actions).map(([type, info]) => {
    const link = `[${type}](${ACTION_PAGES}${info.page ?? type})`;
    const schemes = info.protocols ? ` of ${info.protocols.join(" and ")}` : "";
    return [
      info.ends === "always" ? `**${link}**` : link,
      comments.get(`actions/${type}`) ?? "",
      `${info.phases.map(code).join(", ")}${schemes}`,
      keysOf(info).map(code).join(", "),
    ];
  });
  return `${INTRODUCTION}\n\n${table(["action", "what it does", "phases", "keys of its `config`"], rows)}\n`;
}

/** The keys of an action's config, each with its form: `issuer: {allow_list: [{value}]}`, `rate: 10s`. */
const keysOf = ({ keys }: ActionInfo): string[] =>
  Object.entries<KeyInfo>(keys)
    .filter(([, key]) => key.deprecatedFor === undefined)
    .map(keyText);

function keyText([name, key]: [string, KeyInfo]): string {
  const { kind, list, required, default: standard, values = [], keys } = key;
  const known = values.length < 4 ? values.map((value) => JSON.stringify(value)).join(" or ") : "";
  const inner = Object.entries<KeyInfo>(keys ?? {}).map(keyText);
  const one = keys ? `{${inner.join(", ")}}` : (FORMS[kind] ?? known);
  const form = list ? `[${one}]` : one;
  const optional = required && standard === undefined ? "" : "?";
  if (standard === undefined) return `${name}${optional}${form && `: ${form}`}`;
  // The default shows the form, too.
  return `${name}?${known && `: ${known}`} = ${Array.isArray(standard) ? `[${standard.join(", ")}]` : standard}`;
}

const FORMS: Partial<Record<KeyInfo["kind"], string>> = { duration: "10s", map: "{}", "map of text": "{}" };
