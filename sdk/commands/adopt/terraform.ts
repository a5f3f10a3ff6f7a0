import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { z } from "zod";
import type { LiveEndpoint } from "../../../provider/api/contract";
import { isMapping } from "../../../provider/api/json";
import { escaped } from "../../../provider/api/text";
import { count, grouped, type LogLine, shellWord, UsageError } from "../command";

/*
 * The state of a Terraform stack: the endpoints that move from it to Pulumi, and what stays there. A state has secrets in plain
 * text, so no message quotes anything of it but addresses, ids and file names.
 */

const ENDPOINT = "ngrok_cloud_endpoint";

/** An object of the state. A resource instance has one, and deposed ones until Terraform has deleted them. */
interface StateObject {
  /** `module.site["shop"].ngrok_cloud_endpoint.front[0]` */
  address: string;
  type: string;
  id: string | undefined;
  /** The blocks that it refers to, directly or not (`module.site.ngrok_cloud_endpoint.front`), and all texts among its values. */
  mentions: ReadonlySet<string>;
  /** The condition in which Terraform deletes it at its next apply. */
  condition: "tainted" | "deposed" | undefined;
}

/** The endpoints of a Terraform state. */
export class TerraformState {
  private readonly endpoints: StateObject[];
  private readonly others: StateObject[];
  private readonly addresses: ReadonlyMap<string | undefined, string>;

  /** @throws UsageError if the state has no endpoint. */
  constructor(
    private readonly file: string,
    all: StateObject[],
  ) {
    this.endpoints = all.filter(({ type }) => type === ENDPOINT);
    this.others = all.filter(({ type }) => type !== ENDPOINT);
    this.addresses = new Map(this.endpoints.map(({ id, address }) => [id, address]));
    if (this.endpoints.length === 0) throw new UsageError(`${file} has no ${ENDPOINT}`);
  }

  readonly addressOf = (id: string): string | undefined => this.addresses.get(id);

  /** Why an endpoint must not be adopted: Terraform would delete it. */
  refusal(id: string): string | undefined {
    const { address, condition } = this.endpoints.find((one) => one.id === id && one.condition) ?? {};
    if (address === undefined || condition === undefined) return undefined;
    const next = "Terraform would delete it at its next apply";
    return condition === "tainted"
      ? `${address} is tainted, so ${next}. Run terraform untaint ${shellWord(address)}, and then this command with the new state`
      : `it is a deposed object of ${address}, so ${next}. Run that apply first, because terraform state rm would leave it behind`;
  }

  /**
   * Logs the endpoints that the account lacks, and the resources that stay in Terraform.
   *
   * @throws UsageError if the account has none of the endpoints.
   */
  report(cloud: readonly LiveEndpoint[], log: LogLine): void {
    const ids = new Set<string | undefined>(cloud.map(({ id }) => id));
    const missing = this.endpoints.filter(({ id }) => !ids.has(id));
    if (missing.length === this.endpoints.length)
      throw new UsageError(
        `the account has none of the ${count(missing.length, "endpoint")} of ${this.file}: is it another account's state?`,
      );
    for (const { address, id } of missing)
      log(
        `Not found: ${escaped(`${address} (${id ?? "no id"})`)} is no cloud endpoint of the account. It was deleted, or is another account's`,
      );
    this.reportOthers(new Map(cloud.map(({ id, url }) => [id, url])), log);
  }

  private reportOthers(urls: ReadonlyMap<string, string | undefined>, log: LogLine): void {
    const blocksOf = (objects: readonly StateObject[]) =>
      [...grouped(objects, blockOf)].map(([name, all]) => ({
        name,
        size: all.length,
        mentions: new Set(all.flatMap(({ mentions }) => [...mentions])),
        isKnownAs: [name, ...all.flatMap(({ id = "" }) => [id, urls.get(id) ?? ""])],
      }));
    type Block = ReturnType<typeof blocksOf>[number];
    const refers = (from: Block, to: Block) => to.isKnownAs.some((text) => from.mentions.has(text));
    const names = (blocks: readonly Block[]) => escaped(blocks.map(({ name }) => name).join(", "));
    const endpoints = blocksOf(this.endpoints);
    const alone: string[] = [];
    for (const other of blocksOf(this.others)) {
      const name = escaped(other.size === 1 ? other.name : `${other.name} (${other.size})`);
      const to = endpoints.filter((one) => refers(other, one));
      const by = endpoints.filter((one) => refers(one, other));
      if (to.length > 0)
        log(
          `Stays in Terraform: ${name}, which refers to ${names(to)}. Replace that reference before you remove the block`,
        );
      if (by.length > 0) log(`Stays in Terraform: ${name}, to which ${names(by)} refers`);
      if (to.length + by.length === 0) alone.push(name);
    }
    if (alone.length > 0) log(`Stays in Terraform, without a reference: ${alone.join(", ")}`);
  }

  /** Logs the command with which Terraform forgets these endpoints. */
  logForget(ids: ReadonlySet<string>, log: LogLine): void {
    const known = this.endpoints.filter(({ id, condition }) => ids.has(id ?? "") && condition !== "deposed");
    if (known.length === 0) return;
    log(
      "No output of Terraform shows ignore_changes: give the option ignoreChanges to endpoints whose blocks have it",
    );
    log(
      "Once Pulumi has them, and without a terraform apply in between, let Terraform forget them. Then remove their blocks:",
    );
    log(`  terraform state rm${known.map(({ address }) => ` \\\n    ${shellWord(address)}`).join("")}`);
  }
}

/** An address without the keys of instances, as dependencies name it. */
const blockOf = ({ address }: Pick<StateObject, "address">): string =>
  address.replace(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, "");

/** The name of an endpoint's resource in Pulumi: its address, without what is the same in all. */
export const shortAddress = (address: string): string =>
  address.replace(/(^|\.)module\./g, "$1").replace(`${ENDPOINT}.`, "");

const common = { mode: z.string(), type: z.string(), name: z.string() };
const names = z.array(z.string()).nullish();

/** A state file of format 4. */
const fileSchema = z.object({
  version: z.literal(4),
  resources: z.array(
    z.object({
      ...common,
      module: z.string().optional(),
      instances: z.array(
        z.object({
          index_key: z.union([z.string(), z.number()]).optional(),
          status: z.string().optional(),
          deposed: z.string().optional(),
          attributes: z.unknown(),
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
        values: z.unknown(),
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
const valuesSchema = z.object({ root_module: moduleSchema }).optional();

/** What `terraform show -json` prints of a state, or of a plan. */
const shownSchema = z.object({
  format_version: z.string(),
  values: valuesSchema,
  prior_state: z.object({ values: valuesSchema }).optional(),
});

/**
 * Reads a state file, or the output of `terraform show -json`.
 *
 * @param file `-` is the standard input.
 * @throws UsageError if it is neither, or has no endpoint.
 */
export async function readTerraform(file: string): Promise<TerraformState> {
  const name = file === "-" ? "stdin" : file;
  let data: unknown;
  try {
    const text = file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8");
    data = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `cannot be read (${error.code})` : "is not JSON";
    throw new UsageError(`--terraform: ${name} ${code}`);
  }
  const raw = fileSchema.safeParse(data);
  if (raw.success) return new TerraformState(name, raw.data.resources.flatMap(objectsOfFile));
  const shown = shownSchema.safeParse(data);
  if (shown.success) {
    const { values = shown.data.prior_state?.values } = shown.data;
    return new TerraformState(name, values ? objectsOfModule(values.root_module) : []);
  }
  throw new UsageError(
    `--terraform: ${name} is no Terraform state of format 4, nor the output of terraform show -json`,
  );
}

function objectsOfFile(resource: z.output<typeof fileSchema>["resources"][number]): StateObject[] {
  const { module, mode, type, name, instances } = resource;
  if (mode !== "managed") return [];
  const block = `${module === undefined ? "" : `${module}.`}${type}.${name}`;
  return instances.map(({ index_key: key, status, deposed, attributes, dependencies }) => ({
    address: `${block}${key === undefined ? "" : `[${keyText(key)}]`}`,
    type,
    condition: deposed !== undefined ? "deposed" : status === "tainted" ? "tainted" : undefined,
    ...contentOf(attributes, dependencies),
  }));
}

function objectsOfModule(module: z.output<typeof moduleSchema>): StateObject[] {
  const own = (module.resources ?? []).filter(({ mode }) => mode === "managed");
  return [
    ...own.map(
      ({ address, type, values, depends_on, tainted, deposed_key }): StateObject => ({
        address,
        type,
        condition: deposed_key !== undefined ? "deposed" : tainted ? "tainted" : undefined,
        ...contentOf(values, depends_on),
      }),
    ),
    ...(module.child_modules ?? []).flatMap(objectsOfModule),
  ];
}

/** The key of an instance, as Terraform writes it in an address: with escapes for templates and invisible characters. */
function keyText(key: string | number): string {
  const hex = (character: string) => character.codePointAt(0)?.toString(16) ?? "";
  return JSON.stringify(key)
    .replace(/[$%](?=\{)/g, "$&$&")
    .replace(/(?! )[\p{C}\p{Z}]/gu, (one) =>
      one.length > 1 ? `\\U${hex(one).padStart(8, "0")}` : `\\u${hex(one).padStart(4, "0")}`,
    );
}

function contentOf(
  values: unknown,
  dependencies: z.output<typeof names>,
): Pick<StateObject, "id" | "mentions"> {
  const mentions = new Set(dependencies);
  JSON.stringify(values, (_, part: unknown) => {
    if (typeof part === "string" && part !== "") mentions.add(part);
    return part;
  });
  const id = isMapping(values) ? values["id"] : undefined;
  return { id: typeof id === "string" ? id : undefined, mentions };
}
