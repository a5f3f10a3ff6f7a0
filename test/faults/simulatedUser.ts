import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import type { Engine } from "../model/engine";
import type { Command } from "../model/phase";
import type { Oracle } from "./oracle";
import { hasSecondProvider } from "./testbed";

/** The advice to look for an endpoint that is in no stack. */
const IN_NO_STACK = /is in no stack|look for an endpoint on/i;

/** The advice to let the holder of a URL leave first, in the message or on the page that it names. */
const LEAVES_FIRST = /--target|See "A URL that is taken"/;

/** The user of a random run, who follows the advice in the messages of a command, before or with the next command. */
export class SimulatedUser {
  /** Resources that the next `up` deletes first, and flags for it. */
  flags: Command & { target: string[] } = { target: [] };
  /** The ids for ENDPOINTS_ADOPT in the next commands. */
  readonly adopted = new Set<string>();
  /** The old names of renamed resources. */
  readonly renamed = new Map<string, string>();

  /** @param elsewhere A URL that nobody uses. */
  constructor(
    private readonly program: Map<string, JsonObject>,
    private readonly engine: Engine,
    private readonly oracle: Oracle,
    private readonly elsewhere: () => string,
  ) {}

  /** The docs advise to set `adopt` for one `pulumi up`. */
  removeAdopt(): void {
    for (const [name, { adopt: _, ...inputs }] of this.program) this.program.set(name, inputs);
  }

  /** Follows a message about a taken URL, about endpoints that may be ours, or about the account. */
  follow(name: string, message: string, hasOpenCreate: boolean): void {
    // `pulumi state delete --force`, if the endpoint is really gone. The next command has the right key.
    const [, missing = ""] = /does not have (ep_\w+)/.exec(message) ?? [];
    if (missing !== "" && !this.oracle.exists(missing)) this.engine.state.delete(name);
    const { adopt: _, ...inputs } = this.program.get(name) ?? {};
    if (!this.program.has(name)) return;
    const isNew = !this.oracle.entries().has(name);
    const holder = /is served by (ep_\w+)/.exec(message)?.[1] ?? "";
    for (const [other, { id }] of this.oracle.entries()) {
      if (id !== holder) continue;
      // The user knows all moves. A provider's process knows neither the moves of the other provider's process nor the moves that
      // the engine has not requested yet.
      const isOwnedElsewhere = hasSecondProvider(other) !== hasSecondProvider(name);
      const isSwap = !isNew && (isOwnedElsewhere || this.isInCircle(name));
      if (this.program.has(other) && isSwap && /--replace/.test(message)) this.flags.replace = [name];
      else if (this.program.has(other) && isOwnedElsewhere && LEAVES_FIRST.test(message))
        this.flags.target.push(other);
      else if (this.program.has(other)) this.flags.parallel = 64;
      else if (isNew && /aliases/.test(message) && this.renamed.get(name) === other) {
        this.engine.rename(other, name);
        return;
      } else if (LEAVES_FIRST.test(message)) this.flags.target.push(other);
    }
    const isForeign = this.oracle.isTheirs(holder) || (!isNew && !this.oracle.isInState(holder));
    if (!isNew) {
      if (/remove adopt/i.test(message)) this.removeAdopt();
      if (holder !== "" && isForeign) this.program.set(name, { ...inputs, url: this.elsewhere() });
      return;
    }
    if (/remove adopt/i.test(message)) this.program.set(name, inputs);
    if (IN_NO_STACK.test(message)) this.oracle.inspectUrl(inputs["url"]);
    const named: string[] = message.match(/\bep_\w+/g) ?? [];
    const wanted = new Set([...this.program.values()].map(({ adopt }) => adopt));
    const isOurs = ({ id = "", url = "" }) =>
      !wanted.has(id) &&
      !this.adopted.has(id) &&
      (named.includes(id) || (IN_NO_STACK.test(message) && url === inputs["url"]));
    const left = this.oracle.orphans().find(isOurs);
    if (left !== undefined && /ENDPOINTS_ADOPT=/.test(message)) {
      this.adopted.add(left.id ?? "");
      if (!hasOpenCreate && !this.oracle.isRetained(left.id ?? ""))
        this.oracle.needlessAdoptions.push(`${left.id}: ${message}`);
    }
    if (left === undefined && isForeign) this.program.set(name, { ...inputs, url: this.elsewhere() });
  }

  /** Whether the resources that must move before this resource form a circle with it. */
  private isInCircle(name: string): boolean {
    let last = name;
    for (let count = 0; count < this.program.size; count++) {
      const url = this.program.get(last)?.["url"];
      const [next] = [...this.oracle.entries()].find(([, { outputs }]) => outputs["url"] === url) ?? [];
      if (next === undefined || next === last) return false;
      if (next === name) return true;
      last = next;
    }
    return false;
  }
}
