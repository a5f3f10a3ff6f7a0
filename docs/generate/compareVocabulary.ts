import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { type ActionInfo, actions } from "../../provider/policy/catalogue";
import { expanded, namesOfExpressions } from "../../provider/policy/cel";
import { variables as listed, standardFunctions } from "../../provider/policy/vocabulary";

/*
 * Compares the vocabulary of expressions, and the names of actions, with a checkout of the public service's documentation:
 * `npm run compare -- path/to/ngrok-docs`. It prints what is new there, gone, or of another type.
 */

/** Pages of actions that everybody cannot use yet, or no longer. */
const UNRELEASED = ["ai-gateway", "saml"];

/** The differences, a line each. */
export function differences(checkout: string): string[] {
  const { variables, objects, functions } = namesOfExpressions();
  const theirVariables = documentedVariables(checkout);
  const theirFunctions = documentedFunctions(checkout);
  const pages = globSync("traffic-policy/actions/*.mdx", { cwd: checkout });
  const theirActions = pages
    .map((file) => file.replace(/^.*\/|\.mdx$/g, ""))
    .filter((page) => page !== "index");
  const ourActions = Object.entries<ActionInfo>(actions).map(([type, { page = type }]) => page);
  const ourVariables = [
    ...variables.keys(),
    ...objects,
    ...[...theirVariables.keys()].filter(isOfOpenResult),
  ];
  const otherTypes = [...theirVariables].flatMap(([name, type]) => {
    const ours = variables.get(name) ?? "dyn";
    return [ours, "dyn", ""].includes(type) || ours === "dyn" ? [] : `${name} is ${type} there, ${ours} here`;
  });
  return [
    ...lines("new variable:", theirVariables.keys(), ourVariables),
    ...lines("no longer a variable:", Object.values(listed).flat().flatMap(expanded), theirVariables.keys()),
    ...lines("other type:", otherTypes, []),
    ...lines("new function:", theirFunctions, [...functions.keys(), ...standardFunctions]),
    ...lines("no longer a function:", functions.keys(), theirFunctions),
    ...lines("new action:", theirActions, [...ourActions, ...UNRELEASED]),
    ...lines("no longer an action:", ourActions, theirActions),
  ];
}

function lines(what: string, names: Iterable<string>, known: Iterable<string>): string[] {
  const without = new Set(known);
  const others = [...names].filter((name) => !without.has(name));
  return others.sort().map((name) => `${what} ${name}`);
}

/** Whether nothing is known of the fields of this action's result. */
const isOfOpenResult = (name: string) =>
  namesOfExpressions().variables.get(name.split(".").slice(0, 3).join(".")) === "dyn";

/** The variables of the tables and fields, with their types; an empty type is not compared. */
function documentedVariables(checkout: string): Map<string, string> {
  const files = globSync(["snippets/traffic-policy/**/*.mdx", "traffic-policy/**/*.mdx"], { cwd: checkout });
  const variables = new Map<string, string>();
  for (const text of files.sort().map((file) => readFileSync(join(checkout, file), "utf8"))) {
    const rows = text.matchAll(/^\|\s*\[?`([\w.]+)`[^|]*\|\s*`([^`|]+)`\s*\|/gm);
    const fields = text.matchAll(/<ConfigField\s+title="(actions\.[\w.]+)"\s+type="([^"]+)"/g);
    for (const [, name = "", type = ""] of [...rows, ...fields])
      if (/^(?:conn|endpoint|req|res|time|actions\.ngrok)\./.test(name)) variables.set(name, typeOf(type));
  }
  return variables;
}

/** The documentation has several words for one type. */
function typeOf(written: string): string {
  const type = written.replace(/\s/g, "");
  if (/^(?:string|timestamp)$/.test(type)) return type;
  if (/^int/.test(type)) return "int";
  if (/^bool/.test(type)) return "bool";
  if (/^(?:list|list\[string\]|\[\]string|arrayofstrings)$/.test(type)) return "list<string>";
  if (/^(?:\[\]Extension|array(?:ofobjects)?)$/.test(type)) return "list<dyn>";
  if (/^map.string[\],]string.?$/.test(type)) return "map<string, string>";
  if (type === "map[string][]string") return "map<string, list<string>>";
  return type === "map[string][]cookie" ? "map<string, list<dyn>>" : "";
}

/** The functions of the page Macros. A method is there by its receiver: `string.trim()`. */
function documentedFunctions(checkout: string): Set<string> {
  const text = readFileSync(join(checkout, "traffic-policy/macros/index.mdx"), "utf8");
  const headings = [
    ...text.matchAll(
      /^(?:### |- )`(?:<?(?:string|bytes|list|map|ts|Timestamp|Duration)(?:<string>|\(T\))?>*\.)?([\w.]+)\(/gm,
    ),
  ];
  return new Set(headings.map(([, name = ""]) => name));
}

if (require.main === module) {
  const [checkout = ""] = process.argv.slice(2);
  const found = differences(checkout);
  console.log(found.join("\n") || "Nothing has changed.");
}
