import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { z } from "zod";
import { isMapping } from "../../../provider/api/json";
import { UsageError } from "../command";

/* Terraform's two forms of a state: the file of format 4, and the output of `terraform show -json`. */

export const ENDPOINT = "ngrok_cloud_endpoint";

/** More levels of JSON than a state has. Reading deeper ones would exhaust the stack. */
const MOST_LEVELS = 200;

/** An object of the state. A resource instance has one, and deposed ones until Terraform has deleted them. */
export interface StateObject {
  /** `module.site["shop"].ngrok_cloud_endpoint.front[0]` */
  address: string;
  /** Data sources and outputs are readers. */
  kind: "endpoint" | "resource" | "reader";
  id?: string | undefined;
  /** An endpoint's URL. */
  url?: string | undefined;
  /** The blocks that it refers to, directly or not (`module.site.ngrok_cloud_endpoint.front`), its texts, and ids and URLs in them. */
  mentions: ReadonlySet<string>;
  /** The condition in which Terraform deletes it at its next apply. */
  condition?: "tainted" | "deposed" | undefined;
}

const common = { mode: z.string(), type: z.string(), name: z.string() };
const names = z.array(z.string()).nullish();

const outputs = z.record(z.string(), z.object({ value: z.unknown().optional() })).nullish();

/** A state file of format 4. */
const fileSchema = z.object({
  version: z.literal(4),
  outputs,
  resources: z.array(
    z.object({
      ...common,
      module: z.string().optional(),
      instances: z.array(
        z.object({
          index_key: z.union([z.string(), z.number()]).optional(),
          status: z.string().optional(),
          deposed: z.string().optional(),
          attributes: z.unknown().optional(),
          dependencies: names,
        }),
      ),
    }),
  ),
});

const moduleSchema = z.object({
  resources: z
    .array(
      z.object({
        ...common,
        address: z.string(),
        values: z.unknown().optional(),
        depends_on: names,
        tainted: z.boolean().optional(),
        deposed_key: z.string().optional(),
      }),
    )
    .optional(),
  get child_modules() {
    return z.array(moduleSchema).optional();
  },
});
const valuesSchema = z.object({ root_module: moduleSchema, outputs }).optional();

/** What `terraform show -json` prints of a state, or of a plan. */
const shownSchema = z.object({
  format_version: z.string(),
  values: valuesSchema,
  prior_state: z.object({ values: valuesSchema }).optional(),
  resource_changes: z.array(z.object({ previous_address: z.string().optional() })).nullish(),
});

/**
 * The objects in a state file, or in the output of `terraform show -json`.
 *
 * @param file `-` is the standard input.
 * @param name The name of the file in messages.
 * @throws UsageError if it is neither.
 */
export async function readObjects(file: string, name: string): Promise<StateObject[]> {
  let data: unknown;
  try {
    const text = file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8");
    data = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `cannot be read (${error.code})` : "is not JSON";
    throw new UsageError(`--terraform: ${name} ${code}`);
  }
  if (isDeep(data))
    throw new UsageError(`--terraform: ${name} has more than ${MOST_LEVELS} levels of nesting`);
  const raw = fileSchema.safeParse(data);
  if (raw.success)
    return [...raw.data.resources.flatMap(objectsOfFile), ...objectsOfOutputs(raw.data.outputs)];
  const shown = shownSchema.safeParse(data);
  if (shown.success) {
    const { values = shown.data.prior_state?.values, resource_changes: changes } = shown.data;
    if (changes?.some((one) => one.previous_address !== undefined))
      throw new UsageError(
        `--terraform: ${name} is a plan that moves resources to other addresses: apply it first, or give the state`,
      );
    return values ? [...objectsOfModule(values.root_module), ...objectsOfOutputs(values.outputs)] : [];
  }
  throw new UsageError(
    `--terraform: ${name} is no Terraform state of format 4, nor the output of terraform show -json`,
  );
}

function isDeep(data: unknown): boolean {
  let level = [data];
  for (let depth = 0; depth < MOST_LEVELS; depth++)
    level = level.flatMap((part) => (typeof part === "object" && part !== null ? Object.values(part) : []));
  return level.length > 0;
}

function objectsOfFile(resource: z.output<typeof fileSchema>["resources"][number]): StateObject[] {
  const { module, mode, type, name, instances } = resource;
  const block = [module, ...(mode === "managed" ? [] : [mode]), type, name]
    .filter((part) => part !== undefined)
    .join(".");
  return instances.map(({ index_key: key, status, deposed, attributes, dependencies }) => ({
    address: `${block}${key === undefined ? "" : `[${keyText(key)}]`}`,
    condition: deposed !== undefined ? "deposed" : status === "tainted" ? "tainted" : undefined,
    ...contentOf({ mode, type }, attributes, dependencies),
  }));
}

function objectsOfModule(module: z.output<typeof moduleSchema>): StateObject[] {
  return [
    ...(module.resources ?? []).map(
      ({ address, mode, type, values, depends_on, tainted, deposed_key }): StateObject => ({
        address,
        condition: deposed_key !== undefined ? "deposed" : tainted ? "tainted" : undefined,
        ...contentOf({ mode, type }, values, depends_on),
      }),
    ),
    ...(module.child_modules ?? []).flatMap(objectsOfModule),
  ];
}

const objectsOfOutputs = (all: z.output<typeof outputs>): StateObject[] =>
  Object.entries(all ?? {}).map(([name, { value }]) => ({
    address: `output.${name}`,
    ...contentOf({ mode: "output", type: "" }, value),
  }));

/** The key of an instance, as Terraform writes it in an address. Keys with other escapes are not printable. */
const keyText = (key: string | number): string => JSON.stringify(key).replace(/[$%](?=\{)/g, "$&$&");

function contentOf(
  { mode, type }: { mode: string; type: string },
  values: unknown,
  dependencies?: z.output<typeof names>,
): Pick<StateObject, "kind" | "id" | "url" | "mentions"> {
  const mentions = new Set(dependencies);
  JSON.stringify(values, (_, part: unknown) => {
    if (typeof part === "string")
      for (const text of [part, ...(part.match(/\bep_\w+|\b[a-z]{3,5}:\/\/[^\s"'\\/?#,]+/g) ?? [])])
        mentions.add(text);
    return part;
  });
  const kind = mode !== "managed" ? "reader" : type === ENDPOINT ? "endpoint" : "resource";
  const textAt = (name: string) => {
    const value = isMapping(values) ? values[name] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  return { kind, id: textAt("id"), url: kind === "endpoint" ? textAt("url") : undefined, mentions };
}
