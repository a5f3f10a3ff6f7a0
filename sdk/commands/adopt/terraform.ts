import type { LiveEndpoint } from "../../../provider/api/contract";
import { escaped } from "../../../provider/api/text";
import { urlOf } from "../../../provider/api/url";
import { grouped, type LogLine, shellWord, UsageError } from "../command";
import { ENDPOINT, readObjects, type StateObject } from "./terraformFile";

/*
 * The state of a Terraform stack: the endpoints that move from it to Pulumi, and what stays there. A state has secrets in plain
 * text, so no message quotes anything of it but addresses, ids and file names.
 */

/** The most names in a list of what needs no work. */
const MOST_NAMES = 20;

/** The endpoints of a Terraform state. */
export class TerraformState {
  /**
   * @param file `-` is the standard input.
   * @throws UsageError if it is no state, or has no endpoint.
   */
  static async read(file: string): Promise<TerraformState> {
    const name = file === "-" ? "stdin" : file;
    return new TerraformState(name, await readObjects(file, name));
  }

  private readonly endpoints: StateObject[];
  private readonly byId: ReadonlyMap<string | undefined, StateObject[]>;
  private readonly deposed: ReadonlySet<string>;

  private constructor(
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
