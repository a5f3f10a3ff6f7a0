import {
  ACTION_PAGES,
  type ActionInfo,
  actions,
  type KeyInfo,
  type Keys,
} from "../../provider/policy/catalogue";
import { catalogueComments } from "./policySchema";
import { code, table } from "./tables";

/** The page docs/policy-actions.md: every action with its phases and keys. */
export function actionsPage(): string {
  const comments = catalogueComments();
  const all = Object.entries<ActionInfo>(actions).map(([type, info]) => {
    const page = `${ACTION_PAGES}${info.page ?? type}`;
    const ends = info.ends === "always" ? " Nothing after it runs." : "";
    const schemes = info.protocols ? ` For ${info.protocols.join(" and ")} endpoints.` : "";
    const where = `In ${info.phases.map(code).join(", ")}.${schemes}${ends} [The service's page](${page}).`;
    const rows = rowsOf(info.keys, "", `actions/${type}/keys`, comments);
    const keys =
      rows.length > 0 ? table(["key", "type", "default", "what it is"], rows) : "It has no config.";
    return `## ${type}\n\n${comments.get(`actions/${type}`)} ${where}\n\n${keys}`;
  });
  return `${[INTRODUCTION, ...all].join("\n\n")}\n`;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of expressions in policies
const EXPRESSIONS = " `${…}`";

const INTRODUCTION = `# Actions of traffic policies

All actions that this version knows, generated from \`provider/policy/catalogue.ts\`. [Traffic policies](policies.md) explains how to use
them.${EXPRESSIONS} in a row means that values may contain expressions.`;

function rowsOf(keys: Keys, before: string, path: string, comments: ReadonlyMap<string, string>): string[][] {
  return Object.entries<KeyInfo>(keys).flatMap(([name, key]) => {
    const inner = `${path}/${name}`;
    const shown = `${before}${name}`;
    const known = key.values && !key.default ? ` Known: ${key.values.map(code).join(", ")}.` : "";
    const others =
      key.values?.filter((value) => value !== key.default && !String(key.default).includes(value)) ?? [];
    const more = key.default !== undefined && others.length > 0 ? ` Or ${others.map(code).join(", ")}.` : "";
    const text = `${comments.get(inner) ?? ""}${known}${more}${key.cel ? EXPRESSIONS : ""}`;
    const below = key.keys
      ? rowsOf(key.keys, `${shown}${key.list ? "[]" : ""}.`, `${inner}/keys`, comments)
      : [];
    return [[code(shown), typeOf(key), standardOf(key), text], ...below];
  });
}

const typeOf = ({ kind, list }: KeyInfo) =>
  list === true ? `list of ${kind}` : list ? `${kind}, or a list` : kind;

function standardOf({ required, default: standard }: KeyInfo): string {
  if (standard === undefined) return required ? "**required**" : "";
  return Array.isArray(standard) ? standard.map(code).join(", ") : code(String(standard));
}
