import type { JsonObject } from "../../provider/api/json";
import type { Judge } from "./judge";
import type { Engine } from "./model";

/** The user of a story, who reads the messages of a command, and does what they advise before or with the next one. */
export class Advice {
  /** Resources that the user deletes before the next `up`. */
  targets = new Set<string>();
  /** The old names of renamed resources. */
  readonly renamed = new Map<string, string>();

  /** @param elsewhere A URL that nobody uses. */
  constructor(
    private readonly program: Map<string, JsonObject>,
    private readonly engine: Engine,
    private readonly judge: Judge,
    private readonly elsewhere: () => string,
  ) {}

  /** The docs advise to set `adopt` for one `pulumi up`. */
  removeAdopt(): void {
    for (const [name, { adopt: _, ...inputs }] of this.program) this.program.set(name, inputs);
  }

  /** Follows a message about a taken URL, or about endpoints that may be ours. */
  follow(name: string, message: string, hasOpenCreate: boolean): void {
    const { adopt: _, ...inputs } = this.program.get(name) ?? {};
    if (!this.program.has(name)) return;
    const isNew = !this.engine.state.has(name);
    const holder = /is served by (ep_\w+)/.exec(message)?.[1] ?? "";
    for (const [other, { id }] of this.engine.state) {
      if (id !== holder || this.program.has(other)) continue;
      if (isNew && /aliases/.test(message) && this.renamed.get(name) === other) {
        this.engine.rename(other, name);
        return;
      }
      if (/--target/.test(message)) this.targets.add(other);
    }
    const isForeign = this.judge.isTheirs(holder) || (!isNew && !this.judge.isInState(holder));
    if (!isNew) {
      if (/remove adopt/i.test(message)) this.removeAdopt();
      if (holder !== "" && isForeign) this.program.set(name, { ...inputs, url: this.elsewhere() });
      return;
    }
    const old = this.engine.state.get(this.renamed.get(name) ?? "");
    // Without the old entry, none of the endpoints on the URL is the renamed resource's.
    if (/^cannot .* Several cloud endpoints/.test(message))
      this.program.set(name, old ? { ...inputs, adopt: old.id } : inputs);
    if (/remove adopt/i.test(message)) this.program.set(name, inputs);
    if (/is in no stack/.test(message)) this.judge.inspectUrl(inputs["url"]);
    const named: string[] = message.match(/\bep_\w+/g) ?? [];
    const wanted = new Set([...this.program.values()].map(({ adopt }) => adopt));
    const isOurs = ({ id = "", url = "" }) =>
      !wanted.has(id) && (named.includes(id) || (/is in no stack/.test(message) && url === inputs["url"]));
    const left = this.judge.leftovers().find(isOurs);
    if (left !== undefined && /set adopt/i.test(message)) {
      this.program.set(name, { ...inputs, adopt: left.id });
      if (!hasOpenCreate) this.judge.needlessAdoptions.push(`${left.id}: ${message}`);
    }
    if (left === undefined && isForeign) this.program.set(name, { ...inputs, url: this.elsewhere() });
  }
}
