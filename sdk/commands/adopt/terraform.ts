import { z } from "zod";
import { escaped, isMapping, jsonOf } from "../../../provider/data/index";
import type { Endpoint } from "../../../provider/service/contract";
import { type LogLine, UsageError } from "../command";
import { inputBytes, STANDARD_STREAM } from "../options";
import { groupBy, shellWord } from "../text";

/*
 * The endpoints in the output of `terraform show -json`. The output has secrets in plain text, so messages quote only addresses
 * and ids.
 */

const ENDPOINT = "ngrok_cloud_endpoint";

const resourceSchema = z.object({
  /** `module.site["shop"].ngrok_cloud_endpoint.front[0]` */
  address: z.string(),
  mode: z.string(),
  type: z.string(),
  values: z.object({ id: z.string().nullish() }).nullish(),
  tainted: z.boolean().nullish(),
  deposed_key: z.string().nullish(),
});

const moduleSchema = z.object({
  resources: z.array(resourceSchema).default([]),
  child_modules: z.array(z.unknown()).default([]),
});

const shownSchema = z.object({
  format_version: z.string(),
  values: z.object({ root_module: z.unknown() }).optional(),
});

/** The endpoints of a Terraform state, which move to Pulumi. */
export class Terraform {
  private readonly byId: ReadonlyMap<string, string[]>;
  /** The reasons why Terraform deletes objects at its next apply, by address. */
  private readonly deletes: ReadonlyMap<string, "tainted" | "deposed">;

  private constructor(all: readonly z.output<typeof resourceSchema>[]) {
    const addresses = [...groupBy(all, ({ values }) => values?.id ?? "")];
    this.byId = new Map(addresses.map(([id, same]) => [id, same.map(({ address }) => address)]));
    this.deletes = new Map(
      all.flatMap(({ address, deposed_key: deposed, tainted }) =>
        deposed || tainted ? [[address, deposed ? "deposed" : "tainted"]] : [],
      ),
    );
  }

  /**
   * @param file `-` is the standard input.
   * @throws UsageError if the file is no output of `terraform show -json`, or has no endpoint.
   */
  static async read(file: string): Promise<Terraform> {
    const name = file === STANDARD_STREAM ? "stdin" : file;
    const text = decoded(await inputBytes(file, UsageError));
    const data = jsonOf(text);
    const all = resourcesIn(data)?.filter(({ mode, type }) => mode === "managed" && type === ENDPOINT);
    if (all === undefined) throw new UsageError(`--terraform: ${name} ${mistakeOf(data, text)}`);
    if (all.length === 0) throw new UsageError(`--terraform: ${name} has no ${ENDPOINT}`);
    return new Terraform(all);
  }

  /** The endpoint's address, or the first of several addresses. */
  readonly addressOf = (id: string): string | undefined => this.byId.get(id)?.[0];

  /** The reason why an endpoint must not be adopted: Terraform would delete it, or no command can show its address. */
  refusal(id: string): string | undefined {
    for (const address of this.byId.get(id) ?? []) {
      const why = this.deletes.get(address);
      if (escaped(address) !== address)
        return "its address in Terraform has characters that no command can show. Adopt it by its id, without --terraform";
      const way = why === "tainted" ? `terraform untaint ${shellWord(address)}` : "terraform apply";
      if (why)
        return `Terraform has a ${why} object at ${address}, and deletes that at its next apply. Run ${way}, and then this command with the new state`;
    }
    return undefined;
  }

  /** Logs the endpoints that the account lacks. @throws UsageError if the account lacks all of them. */
  logMissing(cloud: readonly Endpoint[], log: LogLine): void {
    const ids = new Set(cloud.map(({ id }) => id));
    const missing = [...this.byId].filter(([id]) => !ids.has(id));
    if (missing.length === this.byId.size)
      throw new UsageError("--terraform: the account has none of its endpoints. Is it of another account?");
    for (const [id, [address = ""]] of missing)
      log(
        escaped(
          `Not found: ${address} (${id || "no id"}) is no cloud endpoint of the account. If it was deleted, let Terraform forget it, or the next apply creates it`,
        ),
      );
  }

  /** Logs the command with which Terraform forgets these endpoints. */
  logForget(ids: ReadonlySet<string>, log: LogLine): void {
    const moving = [...this.byId].flatMap(([id, addresses]) =>
      ids.has(id) && this.refusal(id) === undefined ? addresses : [],
    );
    if (moving.length === 0) return;
    log(
      `Once Pulumi has them, and without a terraform apply in between, let Terraform forget them. It must report ${moving.length} removed. Then remove their blocks:`,
    );
    log(`  terraform state rm${moving.map((address) => ` \\\n    ${shellWord(address)}`).join("")}`);
  }
}

/** The text without its byte order mark, which tells UTF-16, as PowerShell's `>` writes it, from UTF-8. */
function decoded(bytes: Buffer): string {
  const marks: Record<string, string> = { fffe: "utf-16le", feff: "utf-16be" };
  return new TextDecoder(marks[bytes.toString("hex", 0, 2)] ?? "utf-8").decode(bytes);
}

/** What is wrong with a text that is no output of `terraform show -json`, with the next step. */
function mistakeOf(data: unknown, text: string): string {
  const has = (key: string) => isMapping(data) && key in data;
  const [json] = (data === undefined && /^\{.*\}$/ms.exec(text)) || [];
  if (jsonOf(json ?? "") !== undefined) return "has other text before or after the JSON. Remove that";
  if (has("encrypted_data"))
    return "is an encrypted state. Where it can be decrypted, run tofu show -json > state.json, and give that file";
  const isRaw = has("terraform_version") && has("lineage");
  const other = has("planned_values") ? "is a plan" : "is not what terraform show -json prints of a state";
  return `${isRaw ? "is a raw state" : other}. In Terraform's folder, run terraform show -json > state.json, and give that file`;
}

/** The resources of all modules; undefined if this is no output of `terraform show -json` of a state. */
function resourcesIn(data: unknown): z.output<typeof resourceSchema>[] | undefined {
  const shown = shownSchema.safeParse(data).data;
  if (!shown || (isMapping(data) && "planned_values" in data)) return undefined;
  const modules: unknown[] = shown.values ? [shown.values.root_module] : [];
  const resources: z.output<typeof resourceSchema>[] = [];
  // The list grows while it is read, because modules may be nested deeper than calls.
  for (const each of modules) {
    const module = moduleSchema.safeParse(each).data;
    if (!module) return undefined;
    resources.push(...module.resources);
    modules.push(...module.child_modules);
  }
  return resources;
}

/** The name of an endpoint's resource in Pulumi: its address, without what is the same in all. */
export const shortAddress = (address: string): string =>
  address.replace(/(^|\.)module\./g, "$1").replace(`${ENDPOINT}.`, "");
