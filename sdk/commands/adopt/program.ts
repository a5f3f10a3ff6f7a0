import { isMapping } from "../../../provider/document";
import { ownerText } from "../../../provider/mark";
import type { JsonObject } from "../../../provider/schema";
import { plain } from "../../../provider/userError";
import { count } from "../command";
import type { Adoption, Refusal } from "./inputs";
import { Code, expanded, templateText, text } from "./literal";
import { Mixed, type Secret, withoutSecrets } from "./secrets";

/* The program that takes existing endpoints over. */

/** An endpoint with what it is called: the constant, and Pulumi's resource. */
export interface Named extends Adoption {
  identifier: string;
  name: string;
}

/** A whole TypeScript module. */
export function programOf(
  endpoints: readonly Named[],
  secrets: readonly Secret[],
  refused: readonly Refusal[],
): string {
  const definitions = endpoints.map((endpoint) => definitionOf(endpoint, withoutSecrets(endpoint, secrets)));
  const imports =
    secrets.length > 0
      ? 'import * as pulumi from "@pulumi/pulumi";\nimport { CloudEndpoint } from "pulumi-endpoints";\n\nconst config = new pulumi.Config();\n'
      : 'import { CloudEndpoint } from "pulumi-endpoints";\n';
  return [headOf(endpoints.length, refused), imports, KEEP, ...definitions].join("\n");
}

const KEEP = `// So that no \`pulumi destroy\` deletes what this program did not create. Take it out when it may.
const keep = { retainOnDelete: true };
`;

function headOf(number: number, refused: readonly Refusal[]): string {
  const others = refused.map(
    ({ live, reason }) =>
      `// Not here: ${plain(`${live.id} (${live.url ?? "without a URL"}), since ${reason}`)}.\n`,
  );
  return `// ${count(number, "cloud endpoint")}, as the service had ${number === 1 ? "it" : "them"}. The first \`pulumi up\` takes ${number === 1 ? "it" : "them"} over without a change;
// after it every \`adopt\` can be taken out. Written by \`npx pulumi-endpoints adopt\`.
${others.join("")}`;
}

function definitionOf({ identifier, name, unsaid, live }: Named, inputs: JsonObject): string {
  const owner = live.createdFor ? `// Created for ${plain(ownerText(live.createdFor))}.\n` : "";
  const notes = unsaid.map((what) => `// Left to the service: ${plain(what)}.\n`).join("");
  const code = Object.entries(inputs).map(([input, value]) => [input, inCode(value)]);
  const written = expanded(Object.fromEntries(code), 2);
  return `${owner}${notes}const ${identifier} = new CloudEndpoint(\n  ${text(name)},\n  ${written},\n  keep,\n);\n`;
}

/** The same data with an expression in the place of all that holds a secret. */
function inCode(value: unknown): unknown {
  if (value instanceof Mixed) return expressionOf(value);
  if (Array.isArray(value)) return value.map(inCode);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inCode(item)]));
}

function expressionOf({ parts: [first, ...others] }: Mixed): Code {
  if (typeof first === "object" && others.length === 0) return new Code(requireSecret(first));
  const parts = [first, ...others].map((part) =>
    typeof part === "object" ? `\${${requireSecret(part)}}` : templateText(part ?? ""),
  );
  return new Code(`pulumi.interpolate\`${parts.join("")}\``);
}

const requireSecret = ({ name, type }: Secret) =>
  `config.${type === "number" ? "requireSecretNumber" : "requireSecret"}(${text(name)})`;
