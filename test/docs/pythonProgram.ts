import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const properties = z.record(z.string(), z.unknown()).default({});
/** The names in the package schema. */
const { provider, resources, functions, types } = z
  .object({
    provider: z.object({ inputProperties: properties }),
    resources: z.record(z.string(), z.object({ inputProperties: properties, properties })),
    functions: z.record(
      z.string(),
      z.object({ inputs: z.object({ properties }), outputs: z.object({ properties }) }),
    ),
    types: z.record(z.string(), z.object({ properties })),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../provider/plugin/schema.json"), "utf8")));

/** The name in the generated Python SDK. */
const inPython = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const namesOf = (properties: Record<string, unknown>) => Object.keys(properties).map(inPython);
const lastPart = (token: string) => token.split(":").at(-1) ?? "";

const callables = new Set([
  "Provider",
  ...Object.keys(resources).map(lastPart),
  ...Object.keys(functions)
    .map((token) => inPython(lastPart(token)))
    .flatMap((name) => [name, `${name}_output`]),
]);
const parameters = new Set([
  // The parameters of Pulumi itself.
  ...["opts", "delete_before_replace", "provider", "providers", "parent", "depends_on"],
  ...namesOf(provider.inputProperties),
  ...Object.values(resources).flatMap(({ inputProperties }) => namesOf(inputProperties)),
  ...Object.values(functions).flatMap(({ inputs }) => namesOf(inputs.properties)),
]);
const attributes = new Set([
  "id",
  ...Object.values(resources).flatMap(({ properties }) => namesOf(properties)),
  ...Object.values(functions).flatMap(({ outputs }) => namesOf(outputs.properties)),
  ...Object.values(types).flatMap(({ properties }) => namesOf(properties)),
]);

/**
 * The names in a Python program that the generated SDK lacks, according to the package schema: classes and functions, parameters,
 * and attributes. It works without Python and the Pulumi CLI.
 */
export function mistakesInPython(text: string): string[] {
  const code = withoutTexts(text);
  const unknown = (pattern: RegExp, known: Set<string>, what: string) =>
    [...code.matchAll(pattern)].flatMap(([, name = ""]) =>
      known.has(name) ? [] : [`there is no ${what} ${name}`],
    );
  return [
    ...unknown(/\bendpoints\.(\w+)\(/g, callables, "class or function"),
    ...unknown(/\b(\w+)=(?![=\s])/g, parameters, "parameter"),
    ...unknown(/\b(?!pulumi\.|endpoints\.)\w+\.(\w+)\b(?!\()/g, attributes, "attribute"),
  ];
}

/** Removes comments and the contents of quotes. */
function withoutTexts(code: string): string {
  return code.replace(
    /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g,
    (found) => (found.startsWith("#") ? "" : '""'),
  );
}
