import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { z } from "zod";
import type { LiveEndpoint } from "../../../provider/api/contract";
import { isMapping } from "../../../provider/api/json";
import { escaped } from "../../../provider/api/text";
import { urlOf } from "../../../provider/api/url";
import { grouped, type LogLine, shellWord, UsageError } from "../command";

/*
 * The state of a Terraform stack: the endpoints that move from it to Pulumi, and what stays there. A state has secrets in plain
 * text, so no message quotes anything of it but addresses, ids and file names.
 */

const ENDPOINT = "ngrok_cloud_endpoint";

/** More levels of JSON than a state has. Reading deeper ones would exhaust the stack. */
const MOST_LEVELS = 200;

/** The most names in a list of what needs no work. */
const MOST_NAMES = 20;

/** An object of the state. A resource instance has one, and deposed ones until Terraform has deleted them. */
interface StateObject {
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

/** The endpoints of a Terraform state. */
export class TerraformState {
  private readonly endpoints: StateObject[];
  private readonly byId: ReadonlyMap<string | undefined, StateObject[]>;
  private readonly deposed: ReadonlySet<string>;

  /** @throws UsageError if the state has no endpoint. */
  constructor(
    private readonly file: string,
    private readonly all: StateObject[],
  ) {
    this.endpoints = all.filter(({ kind }) => kind === "endpoint");
    this.byId = grouped(this.endpoints, ({ id }) => id);
    const deposed = this.endpoints.filter(({ condition }) => condition === "deposed");
    this.deposed = new Set(deposed.map(({ address }) => address));
    if (this.endpoints.length === 0) throw new UsageError(`${file} has no ${ENDPOINT}`);
  }

  readonly addressOf = (id: string): string | undefined => this.byId.get(id)?.[0]?.address;

  /** Why an endpoint must not be adopted: Terraform would delete it, or could not forget it alone. */
  refusal(id: string): string | undefined {
    const next = "Terraform would delete it at its next apply";
    const again = "and then this command with the new state";
    for (const { address, condition } of this.byId.get(id) ?? []) {
      if (!isPrintable(address))
        return "its address in Terraform has characters that no command can show. Adopt it by its id, without --terraform";
      if (condition === "deposed")
        return `it is a deposed object of ${address}, so ${next}. Run that apply first, because terraform state rm would leave it behind`;
      if (condition === "tainted")
        return `${address} is tainted, so ${next}. Run terraform untaint ${shellWord(address)}, ${again}`;
      if (this.deposed.has(address))
        return `${address} also has a deposed object, which terraform state rm would leave behind. Run terraform apply first, which deletes that, ${again}`;
    }
    return undefined;
  }

  /**
   * Logs the endpoints that the account lacks, and those with several addresses.
   *
   * @throws UsageError if the account has none of the endpoints.
   */
  report(cloud: readonly LiveEndpoint[], log: LogLine): void {
    const ids = new Set<string | undefined>(cloud.map(({ id }) => id));
    const missing = this.endpoints.filter(({ id }) => !ids.has(id));
    if (missing.length === this.endpoints.length)
      throw new UsageError(
        `the account has no endpoint of ${this.file}: is that the state of another account?`,
      );
    const others = new Map(
      cloud.filter(({ id }) => !this.byId.has(id)).map((live) => [urlOf(live), live.id]),
    );
    for (const one of missing) {
      const { address, id = "no id", url } = one;
      const other = url === undefined ? undefined : others.get(urlOf({ url }));
      const found = other === undefined ? "" : `. ${other} has its URL`;
      const advice = this.isForgettable(one)
        ? `. If it was deleted, take it out of the state, too, or the next apply creates it: terraform state rm ${shellWord(address)}`
        : "";
      log(
        escaped(
          `Not found: ${address} (${id}) is no cloud endpoint of the account. It was deleted, or is another account's${found}${advice}`,
        ),
      );
    }
    for (const [id, same] of this.byId) {
      const addresses = [...new Set(same.map(({ address }) => address))];
      if (id !== undefined && addresses.length > 1)
        log(
          escaped(
            `${id} has ${addresses.length} addresses, and its name from the first: ${addresses.join(", ")}`,
          ),
        );
    }
  }

  /** Whether `terraform state rm` with its address removes it, and nothing that Terraform must still delete. */
  private readonly isForgettable = ({ address }: StateObject) =>
    isPrintable(address) && !this.deposed.has(address);

  /** Logs what stays in Terraform when these endpoints move, and the command with which Terraform forgets them. */
  logForget(ids: ReadonlySet<string>, log: LogLine): void {
    const known = this.endpoints.filter(({ id = "" }) => ids.has(id));
    const moving = known.filter(this.isForgettable);
    // The stack has it already, so nothing has reported it yet.
    for (const { id = "" } of known.filter((one) => !this.isForgettable(one)))
      log(`Not in the command for Terraform: ${escaped(id)}: ${this.refusal(id)}`);
    if (moving.length === 0) return;
    this.logStaying(moving, log);
    log(
      "No output of Terraform shows ignore_changes: give the option ignoreChanges to endpoints whose blocks have it",
    );
    log(
      `Once Pulumi has them, and without a terraform apply in between, let Terraform forget them. It must report ${moving.length} removed. Then remove their blocks:`,
    );
    log(`  terraform state rm${moving.map(({ address }) => ` \\\n    ${shellWord(address)}`).join("")}`);
  }

  private logStaying(moving: readonly StateObject[], log: LogLine): void {
    const isMoving = new Set(moving);
    const staying = this.all.filter((one) => !isMoving.has(one));
    const to = blocksOf(moving);
    const alone: string[] = [];
    for (const block of blocksOf(staying)) {
      const name = escaped(block.size === 1 ? block.name : `${block.name} (${block.size})`);
      const names = (blocks: readonly Block[]) => escaped(blocks.map((one) => one.name).join(", "));
      const uses = to.filter((one) => refers(block, one));
      const users = to.filter((one) => refers(one, block));
      if (uses.length > 0)
        log(
          `Stays in Terraform: ${name}, which refers to ${names(uses)}. Replace that reference before you remove the block`,
        );
      if (users.length > 0) log(`Stays in Terraform: ${name}, to which ${names(users)} refers`);
      if (uses.length + users.length === 0 && block.kind === "resource") alone.push(name);
    }
    const rest = alone.length - MOST_NAMES;
    const more = rest > 0 ? ` and ${rest} more` : "";
    if (alone.length > 0)
      log(`Stays in Terraform, without a reference: ${alone.slice(0, MOST_NAMES).join(", ")}${more}`);

    const counted = ({ address }: StateObject) => address.replace(/\[\d+\]/g, "[*]");
    const stayingCounts = new Set(staying.filter(({ kind }) => kind === "endpoint").map(counted));
    const split = new Set(
      moving.map(counted).filter((count) => /\[\*\]/.test(count) && stayingCounts.has(count)),
    );
    if (split.size > 0)
      log(
        `Only a part moves of ${[...split].join(", ")}. Of a count, move all: a smaller count would delete the instance with the last number`,
      );
  }
}

type Block = ReturnType<typeof blocksOf>[number];

const blocksOf = (objects: readonly StateObject[]) =>
  [...grouped(objects, blockOf)].map(([name, all]) => ({
    name,
    size: all.length,
    kind: all[0]?.kind,
    mentions: new Set(all.flatMap(({ mentions }) => [...mentions])),
    // A data source has the id and the URL of what it refers to.
    isKnownAs: new Set([
      name,
      ...all.flatMap(({ kind, id = name, url = name }) => (kind === "reader" ? [] : [id, url])),
    ]),
  }));

/** Endpoints of a pool have one URL, which is no reference. */
const refers = (from: Block, to: Block): boolean =>
  [...to.isKnownAs].some((text) => from.mentions.has(text) && !from.isKnownAs.has(text));

/** Whether a terminal, a shell and Terraform read the address as it is: it has neither invisible characters nor escapes for them. */
const isPrintable = (address: string): boolean =>
  !/(?! )[\p{C}\p{Z}]/u.test(address) &&
  escaped(address) === address &&
  !address.replace(/\\["\\]/g, "").includes("\\");

/** An address without the keys of instances, as dependencies name it. */
const blockOf = ({ address }: Pick<StateObject, "address">): string =>
  address.replace(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, "");

/** The name of an endpoint's resource in Pulumi: its address, without what is the same in all. */
export const shortAddress = (address: string): string =>
  address.replace(/(^|\.)module\./g, "$1").replace(`${ENDPOINT}.`, "");

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
  if (isDeep(data))
    throw new UsageError(`--terraform: ${name} has more than ${MOST_LEVELS} levels of nesting`);
  const raw = fileSchema.safeParse(data);
  if (raw.success)
    return new TerraformState(name, [
      ...raw.data.resources.flatMap(objectsOfFile),
      ...objectsOfOutputs(raw.data.outputs),
    ]);
  const shown = shownSchema.safeParse(data);
  if (shown.success) {
    const { values = shown.data.prior_state?.values, resource_changes: changes } = shown.data;
    if (changes?.some((one) => one.previous_address !== undefined))
      throw new UsageError(
        `--terraform: ${name} is a plan that moves resources to other addresses: apply it first, or give the state`,
      );
    const all = values ? [...objectsOfModule(values.root_module), ...objectsOfOutputs(values.outputs)] : [];
    return new TerraformState(name, all);
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
