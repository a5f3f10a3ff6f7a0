import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/*
 * What the package schema has under a name, for holding programs in other languages against it where there is no Pulumi
 * that could run them.
 */

/** Something that programs name: a resource, the provider, or a data source. */
export interface Member {
  takes: ReadonlySet<string>;
  demands: readonly string[];
  gives: ReadonlySet<string>;
}

const properties = z.record(z.string(), z.unknown()).default({});
const schema = z
  .object({
    provider: z.object({ inputProperties: properties }),
    resources: z.record(
      z.string(),
      z.object({
        inputProperties: properties,
        requiredInputs: z.array(z.string()).default([]),
        properties,
      }),
    ),
    functions: z.record(
      z.string(),
      z.object({
        inputs: z.object({ properties, required: z.array(z.string()).default([]) }),
        outputs: z.object({ properties }),
      }),
    ),
    types: z.record(z.string(), z.object({ properties })),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../provider/plugin/schema.json"), "utf8")));

const names = (of: Record<string, unknown>, ...more: string[]) => new Set([...Object.keys(of), ...more]);

export const resources: ReadonlyMap<string, Member> = new Map([
  [
    "pulumi:providers:endpoints",
    { takes: names(schema.provider.inputProperties), demands: [], gives: names({}, "id") },
  ],
  ...Object.entries(schema.resources).map(([token, { inputProperties, requiredInputs, properties }]) => {
    const member: Member = {
      takes: names(inputProperties),
      demands: requiredInputs,
      gives: names(properties, "id"),
    };
    return [token, member] as const;
  }),
]);

export const dataSources: ReadonlyMap<string, Member> = new Map(
  Object.entries(schema.functions).map(([token, { inputs, outputs }]) => [
    token,
    { takes: names(inputs.properties), demands: inputs.required, gives: names(outputs.properties) },
  ]),
);

/** Every name of an output, of whatever gives it. */
export const outputNames: ReadonlySet<string> = new Set(
  [...resources.values(), ...dataSources.values()]
    .flatMap(({ gives }) => [...gives])
    .concat(Object.values(schema.types).flatMap(({ properties }) => Object.keys(properties))),
);

/** What is wrong with a call of this that gives these arguments. */
export function mistakesInCall(what: string, member: Member | undefined, given: string[]): string[] {
  if (!member) return [`there is no ${what}`];
  const unknown = given.filter((name) => !member.takes.has(name)).map((name) => `${what} takes no ${name}`);
  const missing = member.demands.filter((name) => !given.includes(name));
  return [...unknown, ...missing.map((name) => `${what} is given no ${name}`)];
}
