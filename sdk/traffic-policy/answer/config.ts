import type { z } from "zod";
import { type ActionType, actions, type KeyInfo } from "../policy/catalogue";
import { notSimulated } from "./trace";

/** The library zod. It is loaded only when a request runs. */
const zod = (): typeof z => require("zod");

function schemasOfKinds() {
  const { string, int, number, boolean, record, union, unknown } = zod();
  return {
    text: string(),
    duration: string(),
    integer: int(),
    number: number(),
    boolean: boolean(),
    // In YAML, a header's value without quotes can be a number or a boolean.
    "map of text": record(
      string(),
      union([string(), number(), boolean()]).transform((value) => `${value}`),
    ),
    map: record(string(), unknown()),
    object: unknown(),
  } satisfies Record<KeyInfo["kind"], z.ZodType>;
}

type Kinds = ReturnType<typeof schemasOfKinds>;
let kinds: Kinds | undefined;

type Value<K extends KeyInfo> = z.output<Kinds[K["kind"]]>;
type KeyValue<K extends KeyInfo> =
  | (K["list"] extends true | "or one" ? Value<K>[] : Value<K>)
  | (K extends { required: true } | { default: unknown } ? never : undefined);

/** The values of an action's keys, with the documented defaults. */
export type Config<Type extends ActionType> = {
  [Name in keyof (typeof actions)[Type]["keys"]]: (typeof actions)[Type]["keys"][Name] extends infer K extends
    KeyInfo
    ? KeyValue<K>
    : never;
};

/** Parses the config of an action. @throws RequestNotSimulated if it does not fit the catalogue. */
export function readConfig<Type extends ActionType>(type: Type, config: unknown): Config<Type> {
  const keys = Object.entries<KeyInfo>(actions[type].keys);
  const schema = zod().strictObject(Object.fromEntries(keys.map(([name, key]) => [name, schemaOf(key)])));
  const { data, error } = schema.safeParse(config ?? {});
  if (data === undefined) {
    const [issue] = error.issues;
    return notSimulated(`its config (${[...(issue?.path ?? []), issue?.message].join(": ")})`);
  }
  for (const [name, { cel }] of keys)
    if (!cel && JSON.stringify(data[name])?.includes("${"))
      notSimulated(`an expression in ${name}, which takes none,`);
  return data as Config<Type>;
}

function schemaOf({ kind, list, values, required, default: standard }: KeyInfo): z.ZodType {
  kinds ??= schemasOfKinds();
  const one = values ? zod().enum(values) : kinds[kind];
  const all: z.ZodType = list ? zod().array(one) : one;
  if (standard !== undefined) return all.default(standard);
  return required ? all : all.optional();
}
