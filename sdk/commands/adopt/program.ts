import { isMapping, oneLine } from "../../../provider/data/index";
import { count } from "../text";
import type { Adoption, Unadoptable } from "./adoptable";
import { ConfigSecret, secretReplacement } from "./configSecrets";

/* The program that adopts existing endpoints. Its layout is plain: formatting is left to the user's own formatter. */

/** A whole TypeScript module. */
export function programOf(
  adoptions: readonly Adoption[],
  names: ReadonlyMap<string, string>,
  secrets: readonly ConfigSecret[],
  unadoptable: readonly Unadoptable[],
): string {
  const inputsOf = secretReplacement(secrets);
  const all = adoptions.map((adoption) => ({ ...adoption, inputs: inputsOf(adoption) }));
  const definitions = all.map(({ live, keptByService, inputs }) => {
    const notes = keptByService.map((what) => `// Left to the service: ${oneLine(what)}.\n`).join("");
    const args = `{\n${linesOf(entriesOf(inputs, ""), "")}}`;
    return `${notes}new CloudEndpoint(${quotedText(names.get(live.id) ?? live.id)}, ${args}, keep);\n`;
  });
  const imports =
    secrets.length > 0
      ? 'import * as pulumi from "@pulumi/pulumi";\nimport { CloudEndpoint } from "pulumi-endpoints";\n\nconst config = new pulumi.Config();\n'
      : 'import { CloudEndpoint } from "pulumi-endpoints";\n';
  return [headOf(all.length, unadoptable), imports, KEEP, ...definitions].join("\n");
}

const KEEP = `// With this option, Pulumi refuses to delete or replace an endpoint. Remove it if Pulumi may.
// To give an endpoint back, run \`pulumi state delete --force URN\`, and then remove its definition.
const keep = { protect: true };
`;

function headOf(number: number, unadoptable: readonly Unadoptable[]): string {
  const them = number === 1 ? "it" : "them";
  const others = unadoptable.map(
    ({ live, reason }) =>
      `// Left out: ${oneLine(`${live.id} (${live.url ?? "without a URL"}): ${reason}`)}.\n`,
  );
  return `// ${count(number, "cloud endpoint")}, as the service had ${them}. The first \`pulumi up\` adopts ${them} without a change;
// after that, every \`adopt\` can be removed. Written by \`npx pulumi-endpoints adopt\`.
${others.join("")}`;
}

/** Longer lists and objects have a line for each entry. */
const MAX_LINE_LENGTH = 80;

/** Data as a TypeScript expression. Each secret is an expression that reads the configuration. */
export function literal(value: unknown, indent = ""): string {
  if (value instanceof ConfigSecret)
    return `config.${value.type === "number" ? "requireSecretNumber" : "requireSecret"}(${quotedText(value.name)})`;
  if (typeof value === "string") return quotedText(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, `${indent}  `));
    return isShort(items) ? `[${items.join(", ")}]` : `[\n${linesOf(items, indent)}]`;
  }
  if (!isMapping(value)) return String(value);
  const entries = entriesOf(value, indent);
  if (entries.length === 0) return "{}";
  return isShort(entries) ? `{ ${entries.join(", ")} }` : `{\n${linesOf(entries, indent)}}`;
}

const entriesOf = (value: object, indent: string): string[] => {
  // A service may sort keys, and an action is read by its type.
  const isFirst = ([key]: [string, unknown]) => key === "type" && "config" in value;
  const all = Object.entries(value);
  return [...all.filter(isFirst), ...all.filter((one) => !isFirst(one))].map(
    ([key, item]) => `${keyText(key)}: ${literal(item, `${indent}  `)}`,
  );
};

const linesOf = (entries: readonly string[], indent: string) =>
  `${entries.map((entry) => `${indent}  ${entry},\n`).join("")}${indent}`;

const isShort = (entries: readonly string[]) =>
  entries.reduce((sum, { length }) => sum + length, 0) <= MAX_LINE_LENGTH &&
  !entries.some((entry) => entry.includes("\n"));

function keyText(key: string): string {
  // Without brackets, this key would set the object's prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quotedText(key);
}

/** A quoted text with escapes for all invisible characters. */
function quotedText(value: string): string {
  return JSON.stringify(value).replace(/[\p{C}\p{Z}]/gu, (character) =>
    character === " " ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
