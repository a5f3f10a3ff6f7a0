import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const properties = z.record(z.string(), z.unknown()).default({});
const required = z.array(z.string()).default([]);
/** What the package schema says of names. */
export const schema = z
  .object({
    provider: z.object({ inputProperties: properties }),
    resources: z.record(
      z.string(),
      z.object({ inputProperties: properties, requiredInputs: required, properties }),
    ),
    functions: z.record(
      z.string(),
      z.object({ inputs: z.object({ properties, required }), outputs: z.object({ properties }) }),
    ),
    types: z.record(z.string(), z.object({ properties })),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../provider/plugin/schema.json"), "utf8")));

interface Callable {
  keywords: string[];
  required: string[];
}

/** The name in the generated Python SDK. */
const inPython = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const namesOf = (properties: Record<string, unknown>) => Object.keys(properties).map(inPython);
const lastPart = (token: string) => token.split(":").at(-1) ?? "";

const classes: [string, Callable][] = Object.entries(schema.resources).map(
  ([token, { inputProperties, requiredInputs }]) => [
    lastPart(token),
    { keywords: namesOf(inputProperties), required: requiredInputs.map(inPython) },
  ],
);
const functions: [string, Callable][] = Object.entries(schema.functions).flatMap(([token, { inputs }]) => {
  const callable = { keywords: namesOf(inputs.properties), required: inputs.required.map(inPython) };
  return ["", "_output"].map((suffix): [string, Callable] => [
    inPython(lastPart(token).replace(/^./, (first) => first.toLowerCase())) + suffix,
    callable,
  ]);
});

const callables: ReadonlyMap<string, Callable> = new Map([
  ["Provider", { keywords: namesOf(schema.provider.inputProperties), required: [] }],
  ...classes,
  ...functions,
]);

const attributes: ReadonlySet<string> = new Set([
  "id",
  ...Object.values(schema.resources).flatMap(({ properties }) => namesOf(properties)),
  ...Object.values(schema.functions).flatMap(({ outputs }) => namesOf(outputs.properties)),
  ...Object.values(schema.types).flatMap(({ properties }) => namesOf(properties)),
]);

/** The Python names of CloudEndpoint's inputs and outputs. */
export function namesOfCloudEndpoint(): { inputs: string[]; outputs: string[] } {
  const { inputProperties = {}, properties = {} } = schema.resources["endpoints:index:CloudEndpoint"] ?? {};
  return { inputs: namesOf(inputProperties), outputs: namesOf(properties) };
}

/**
 * The mistakes in a Python program's use of the generated SDK, according to the package schema: unknown classes and
 * functions, unknown or missing keyword arguments, and unknown attributes. It works without Python and the Pulumi CLI.
 */
export function mistakesInPython(text: string): string[] {
  const code = withoutTexts(text);
  const calls = [...code.matchAll(/\bendpoints\.(\w+)\(/g)].flatMap(({ 0: opening, 1: name = "", index }) => {
    const given = keywordsIn(code.slice(index + opening.length)).filter((keyword) => keyword !== "opts");
    return mistakesInCall(name, given);
  });
  const unknown = [...code.matchAll(/\b(\w+)\.(\w+)\b(?!\()/g)].filter(
    ([, object = "", name = ""]) => object !== "pulumi" && object !== "endpoints" && !attributes.has(name),
  );
  return [...calls, ...unknown.map(([, , name]) => `nothing has the attribute ${name}`)];
}

function mistakesInCall(name: string, given: string[]): string[] {
  const callable = callables.get(name);
  if (!callable) return [`there is no ${name}`];
  const unknown = given.filter((keyword) => !callable.keywords.includes(keyword));
  const missing = callable.required.filter((keyword) => !given.includes(keyword));
  return [
    ...unknown.map((keyword) => `${name} has no parameter ${keyword}`),
    ...missing.map((keyword) => `${name} needs ${keyword}`),
  ];
}

/** Removes comments and the contents of quotes. */
function withoutTexts(code: string): string {
  return code.replace(
    /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g,
    (found) => (found.startsWith("#") ? "" : '""'),
  );
}

/** The keywords of a call, without those of nested calls. `code` starts after the opening parenthesis. */
function keywordsIn(code: string): string[] {
  const keywords: string[] = [];
  let depth = 0;
  for (const [token, keyword] of code.matchAll(/[([{]|[)\]}]|\b(\w+)\s*=(?!=)/g)) {
    if (/[([{]/.test(token)) depth++;
    else if (/[)\]}]/.test(token)) depth--;
    else if (depth === 0 && keyword) keywords.push(keyword);
    if (depth < 0) break;
  }
  return keywords;
}
