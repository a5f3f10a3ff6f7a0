import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { mistakesInPython, schema } from "../examples/pythonProgram";
import { examplesIn, schemaExamples, schemaItems } from "./schemaExamples";

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
  ["${shop.publicUrl}", "${shop.public}", ["shop has no output public"]],
])("the check of YAML finds the mistake if %s is replaced by %s", (right, wrong, mistakes) => {
  const [example] = examplesIn("yaml").filter(({ name }) => name === "CloudEndpoint1");
  expect(mistakesInYaml((example?.code ?? "").replace(right, wrong))).toEqual(mistakes);
});

interface Callable {
  inputs: object;
  required: string[];
  outputs: object;
}

const callables = new Map<string, Callable>([
  ["pulumi:providers:endpoints", { inputs: schema.provider.inputProperties, required: [], outputs: {} }],
  ...Object.entries(schema.resources).map(
    ([token, { inputProperties: inputs, requiredInputs: required, properties: outputs }]): [
      string,
      Callable,
    ] => [token.replace(":index:", ":"), { inputs, required, outputs }],
  ),
  ...Object.entries(schema.functions).map(([token, { inputs, outputs }]): [string, Callable] => [
    token.replace(":index:", ":"),
    { inputs: inputs.properties, required: inputs.required, outputs: outputs.properties },
  ]),
]);

const values = z.record(z.string(), z.unknown()).default({});
const yamlProgram = z.strictObject({
  config: values,
  resources: z
    .record(
      z.string(),
      z.strictObject({ type: z.string(), properties: values, options: z.unknown().optional() }),
    )
    .default({}),
  variables: z
    .record(
      z.string(),
      z.strictObject({ "fn::invoke": z.strictObject({ function: z.string(), arguments: values }) }),
    )
    .default({}),
  outputs: values,
});

/** The mistakes in a YAML program's use of the package, according to its schema. */
function mistakesInYaml(code: string): string[] {
  const { config, resources, variables } = yamlProgram.parse(parse(code));
  const calls = [
    ...Object.entries(resources).map(([name, { type, properties }]) => ({ name, type, given: properties })),
    ...Object.entries(variables).map(([name, { "fn::invoke": call }]) => ({
      name,
      type: call.function,
      given: call.arguments,
    })),
  ];
  const inCalls = calls.flatMap(({ name, type, given }) => {
    const known = callables.get(type);
    if (!known) return [`${name} has an unknown type`];
    const unknown = Object.keys(given).filter((input) => !(input in known.inputs));
    const missing = known.required.filter((input) => !(input in given));
    return [
      ...unknown.map((input) => `${name} has no input ${input}`),
      ...missing.map((input) => `${name} needs ${input}`),
    ];
  });
  const references = [...code.matchAll(/\$\{(\w+)(?:\.(\w+))?/g)].flatMap(([, name = "", output]) => {
    const type = calls.find((call) => call.name === name)?.type;
    if (type === undefined) return name in config ? [] : [`there is no ${name}`];
    const { outputs } = callables.get(type) ?? {};
    return !output || !outputs || output in outputs ? [] : [`${name} has no output ${output}`];
  });
  return [...inCalls, ...references];
}
