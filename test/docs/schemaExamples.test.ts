import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { mistakesInPython, schema } from "../examples/pythonProgram";
import { examplesIn, schemaExamples, schemaItems } from "./schemaExamples";

/* Without Pulumi's CLI. Slow tests compile the examples, and run those in YAML. */

test.each(schemaItems)("$item has examples, each in four languages", ({ item }) => {
  const own = schemaExamples.filter(({ name }) => name.replace(/\d+$/, "") === item);
  const names = [...new Set(own.map(({ name }) => name))];
  expect(names).not.toEqual([]);
  for (const example of names) {
    const languages = own.filter(({ name }) => name === example).map(({ language }) => language);
    expect(languages).toEqual(["typescript", "python", "go", "yaml"]);
  }
});

test.each(examplesIn("python"))("$name in Python uses only what the generated SDK has", ({ code }) => {
  expect(mistakesInPython(code)).toEqual([]);
});

test.each(examplesIn("yaml"))("$name in YAML uses only what the schema has", ({ code }) => {
  expect(mistakesInYaml(code)).toEqual([]);
});

test.each([
  ["url: https://shop", "uri: https://shop", ["shop has no input uri", "shop needs url"]],
  ["endpoints:CloudEndpoint", "endpoints:Endpoint", ["shop has an unknown type"]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references in YAML
  ["${shop.publicUrl}", "${shop.public}", ["there is no shop.public"]],
])("the check of YAML finds the mistake if %s is replaced by %s", (right, wrong, mistakes) => {
  const [example] = examplesIn("yaml").filter(({ name }) => name === "CloudEndpoint1");
  expect(mistakesInYaml((example?.code ?? "").replace(right, wrong))).toEqual(mistakes);
});

/** What a resource or a call in YAML takes and has, by its type or function. */
const callables = new Map<string, { inputs: object; required: string[]; outputs: object }>([
  ["pulumi:providers:endpoints", { inputs: schema.provider.inputProperties, required: [], outputs: {} }],
]);
for (const [token, resource] of Object.entries(schema.resources))
  callables.set(token.replace(":index:", ":"), {
    inputs: resource.inputProperties,
    required: resource.requiredInputs,
    outputs: resource.properties,
  });
for (const [token, { inputs, outputs }] of Object.entries(schema.functions))
  callables.set(token.replace(":index:", ":"), {
    inputs: inputs.properties,
    required: inputs.required,
    outputs: outputs.properties,
  });

const values = z.record(z.string(), z.unknown()).default({});
const resource = z
  .strictObject({ type: z.string(), properties: values, options: z.unknown().optional() })
  .transform(({ type, properties }) => ({ type, given: properties }));
const call = z
  .strictObject({ "fn::invoke": z.strictObject({ function: z.string(), arguments: values }) })
  .transform(({ "fn::invoke": { function: type, arguments: given } }) => ({ type, given }));
const yamlProgram = z.strictObject({
  config: values,
  resources: z.record(z.string(), resource).default({}),
  variables: z.record(z.string(), call).default({}),
  outputs: values,
});

/** The mistakes in a YAML program's use of the package, according to its schema. */
function mistakesInYaml(code: string): string[] {
  const { config, resources, variables } = yamlProgram.parse(parse(code));
  const calls = Object.entries({ ...resources, ...variables });
  const known = new Set(Object.keys(config));
  const inCalls = calls.flatMap(([name, { type, given }]) => {
    const callable = callables.get(type);
    if (!callable) return [`${name} has an unknown type`];
    for (const output of ["", ...Object.keys(callable.outputs).map((one) => `.${one}`)])
      known.add(name + output);
    const unknown = Object.keys(given).filter((input) => !(input in callable.inputs));
    const missing = callable.required.filter((input) => !(input in given));
    return [
      ...unknown.map((input) => `${name} has no input ${input}`),
      ...missing.map((input) => `${name} needs ${input}`),
    ];
  });
  if (inCalls.length > 0) return inCalls;
  const used = [...code.matchAll(/\$\{(\w+(?:\.\w+)?)/g)].map(([, reference = ""]) => reference);
  return used.filter((reference) => !known.has(reference)).map((reference) => `there is no ${reference}`);
}
