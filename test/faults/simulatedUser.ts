import type { JsonObject } from "../../provider/data/index";
import type { Engine } from "../model/engine";
import type { Command, Outcome } from "../model/phase";
import type { Oracle } from "./oracle";

/** The user of a random run, who follows the messages of a command, before or with the next command. */
export class SimulatedUser {
  /** The next `up` has these flags, after one for each target. */
  flags: Command & { target: string[] } = { target: [] };
  /** The values for `endpoints:adopt` in the next commands, one command after the other. */
  adoptions = new Set<string>();
  /** The old names of renamed resources. */
  readonly renamed = new Map<string, string>();

  /** @param elsewhere A URL that nobody uses. */
  constructor(
    private readonly program: Map<string, JsonObject>,
    private readonly engine: Engine,
    private readonly oracle: Oracle,
    private readonly config: Record<string, string>,
    private readonly elsewhere: () => string,
  ) {}

  /** `pulumi config rm endpoints:adopt` */
  removeSetting(): void {
    delete this.config["endpoints:adopt"];
  }

  /** Takes `adopt` out of the program, or only this id. */
  removeAdopt(id?: string): void {
    for (const [name, { adopt, ...inputs }] of this.program)
      if (id === undefined || adopt === id) this.program.set(name, inputs);
  }

  /** Looks with `drift` for what a killed run left: one line has all ids, and in a pool each is a resource's `adopt`. */
  lookForStrays(): void {
    const strays = this.oracle.orphans();
    if (!this.oracle.mode.pools && strays.length > 0)
      this.adoptions.add(strays.map(({ id }) => id).join(","));
    for (const name of this.program.keys()) this.takeStray(name);
  }

  follow(errors: Outcome["errors"]): void {
    for (const [name, message] of errors) {
      const others = errors.filter(([other]) => other !== name).map(([, text]) => text);
      this.followMessage(name, message, others);
    }
  }

  private followMessage(name: string, message: string, others: string[]): void {
    const [, id = ""] = /is served by (ep_\w+)/.exec(message) ?? /\b(ep_\w+)/.exec(message) ?? [];
    const owners = [...this.oracle.entries()].filter(([, entry]) => entry.id === id);
    const isShared = /See "Two resources share/.test(message);
    if (isShared || /See "An endpoint is not found"/.test(message)) {
      const [owner = [name]] = owners.sort(([one]) => (this.program.has(one) ? 1 : -1));
      // The user knows what is really gone. Otherwise the next command has the right key.
      if (isShared ? owners.length > 1 : !this.oracle.exists(id)) this.engine.state.delete(owner[0]);
    }
    const [old] =
      owners.find(([owner]) => this.renamed.get(name) === owner && !this.program.has(owner)) ?? [];
    const isNew = this.program.has(name) && !this.oracle.entries().has(name);
    const isRenamed = isNew && old !== undefined && /aliases/.test(message);
    if (isRenamed) this.engine.rename(old, name);
    if (/take its id out/.test(message) && !others.some((text) => text.includes(id))) {
      this.removeAdopt(id);
      this.removeSetting();
    }
    if (/remove adopt/i.test(message)) this.removeAdopt(id);
    if (isNew && /who-has [^`]+` before the next run/.test(message)) this.takeStray(name);
    const isTaken = this.oracle.exists(id) && message.includes(`is served by ${id}`);
    if (this.program.has(name) && !isRenamed && isTaken) this.leaveTakenUrl(name, id, message);
  }

  /** Follows the page on taken URLs, with what `who-has` prints. */
  private leaveTakenUrl(name: string, holder: string, message: string): void {
    const { adopt: _, ...inputs } = this.program.get(name) ?? {};
    const [other] = [...this.oracle.entries()].find(([, { id }]) => id === holder) ?? [];
    const isNew = !this.oracle.entries().has(name);
    const [, own] = /`pulumi up --config endpoints:adopt=(ep_\w+)`/.exec(message) ?? [];
    if (own !== undefined) this.adoptions.add(own);
    else if (other !== undefined && !this.program.has(other)) {
      if (isNew) this.engine.rename(other, name);
      else this.flags.target.push(other);
    } else if (other !== undefined || !isNew || this.oracle.isTheirs(holder))
      this.program.set(name, { ...inputs, url: this.elsewhere() });
    else {
      if (this.oracle.mode.pools) this.program.set(name, { ...inputs, adopt: holder });
      else this.adoptions.add(holder);
      this.oracle.adoptionAdvised(holder, String(inputs["url"]), message);
    }
  }

  /** Lets a new resource take a stray on its URL. */
  private takeStray(name: string): void {
    const inputs = this.program.get(name) ?? {};
    const wanted = [...this.program.values()].map(({ adopt }) => adopt);
    const stray = this.oracle.orphans().find(({ id, url }) => url === inputs["url"] && !wanted.includes(id));
    if (!stray || this.oracle.entries().has(name)) return;
    if (this.oracle.mode.pools) this.program.set(name, { ...inputs, adopt: stray.id });
    else this.adoptions.add(stray.id);
  }
}
