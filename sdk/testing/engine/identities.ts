import { formerUrns, type Place } from "./aliases";
import type { Goal } from "./goal";
import type { ResourceState } from "./resourceState";
import { Bail } from "./step";

/** Which resource of the last run is which one of this run: by URN, else by an alias. */
export class Identities {
  /** The URNs that were registered in this run. */
  private readonly urns = new Set<string>();
  /** Former URNs that were taken, and by whom; as `sg.aliased`. */
  private readonly takenBy = new Map<string, string>();
  /** The former URN of each that was found by an alias; as `sg.aliases`. */
  private readonly former = new Map<string, string>();
  private readonly byUrn: Map<string, ResourceState>;

  constructor(
    olds: ResourceState[],
    private readonly place: Place,
    private readonly complain: (message: string, urn: string) => void,
  ) {
    this.byUrn = new Map(olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  /** The state before the run. */
  old(urn: string): ResourceState | undefined {
    return this.byUrn.get(urn);
  }

  /** The URN that a resource of the last run has now: its own, unless another took it as an alias. */
  present(urn: string): string {
    return this.takenBy.get(urn) ?? urn;
  }

  /** As `generateURN` and `checkParent`. */
  claim(urn: string, parent: string): void {
    if (parent !== "" && !this.urns.has(parent)) throw new Error(`could not find parent resource ${parent}`);
    if (this.urns.has(urn)) {
      const message = `Duplicate resource URN '${urn}'; try giving it a unique name`;
      this.complain(message, urn);
      throw new Bail(message);
    }
    this.urns.add(urn);
  }

  /** Its own URN first, then the aliases in their order; as `getOldResource`. */
  find(urn: string, goal: Pick<Goal, "name" | "type" | "parent" | "aliases">): Found {
    let valid = true;
    const refuse = (message: string): void => {
      valid = false;
      this.complain(message, urn);
    };
    const taker = this.takenBy.get(urn);
    if (taker !== undefined)
      refuse(`Duplicate resource URN '${urn}' conflicting with alias on resource with URN '${taker}'`);
    const aliases = formerUrns(goal, this.place, (each) => this.former.get(each));
    const candidate = [urn, ...aliases].find((each) => this.byUrn.has(each));
    const old = candidate === undefined ? undefined : this.byUrn.get(candidate);
    if (candidate === undefined || candidate === urn) return { old, alias: undefined, valid };
    const other = this.urns.has(candidate) ? urn : this.takenBy.get(candidate);
    if (other !== undefined)
      refuse(
        `Duplicate resource alias '${candidate}' applied to resource with URN '${urn}' conflicting with ` +
          `resource with URN '${other}'`,
      );
    this.takenBy.set(candidate, urn);
    this.former.set(urn, candidate);
    return { old, alias: candidate, valid };
  }
}

export interface Found {
  old: ResourceState | undefined;
  /** The former URN that it was found under. */
  alias: string | undefined;
  /** False where somebody else has taken it already. That was said; the resource is checked, and then the run ends. */
  valid: boolean;
}
