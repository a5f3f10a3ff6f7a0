import { parse } from "yaml";
import { z } from "zod";
import { dataSources, type Member, mistakesInCall, resources } from "./packageNames";

const program = z.object({
  config: z.record(z.string(), z.unknown()).default({}),
  variables: z.record(z.string(), z.unknown()).default({}),
  resources: z
    .record(
      z.string(),
      z.object({ type: z.string(), properties: z.record(z.string(), z.unknown()).default({}) }),
    )
    .default({}),
});

const call = z.object({
  "fn::invoke": z.object({
    function: z.string(),
    arguments: z.record(z.string(), z.unknown()).default({}),
    return: z.string().optional(),
  }),
});

/** What is wrong with a Pulumi YAML program, going by the package schema alone. */
export function mistakesInYaml(text: string): string[] {
  const document: unknown = parse(text);
  const { config, variables, resources: declared } = program.parse(document);
  const members = new Map<string, Member>();
  const mistakes: string[] = [];
  for (const [name, { type, properties }] of Object.entries(declared)) {
    const member = resources.get(fullToken(type));
    if (member) members.set(name, member);
    mistakes.push(...mistakesInCall(type, member, Object.keys(properties)));
  }
  for (const value of valuesIn(document)) {
    if (typeof value === "string") {
      mistakes.push(...referencesIn(value).flatMap(mistakeInReference));
      continue;
    }
    const { success, data } = call.safeParse(value);
    if (!success) continue;
    const { function: token, arguments: given, return: wanted } = data["fn::invoke"];
    const source = dataSources.get(fullToken(token));
    mistakes.push(...mistakesInCall(token, source, Object.keys(given)));
    if (wanted && source && !source.gives.has(wanted)) mistakes.push(`${token} gives no ${wanted}`);
  }
  return mistakes;

  function mistakeInReference([name = "", property]: string[]): string[] {
    if (!(name in config || name in variables || name in declared)) return [`nothing is called ${name}`];
    const member = members.get(name);
    return member && property && !member.gives.has(property) ? [`${name} has no ${property}`] : [];
  }
}

/** YAML programs may leave out the module `index`. */
const fullToken = (token: string) => token.replace(/^(endpoints):(\w+)$/, "$1:index:$2");

/** What stands between `${` and `}`, at its dots. */
const referencesIn = (text: string) =>
  [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, path = ""]) => path.split(/[.[]/));

function* valuesIn(value: unknown): Iterable<unknown> {
  yield value;
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) yield* valuesIn(part);
}
