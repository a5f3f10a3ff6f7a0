import { formerUrns, type Place } from "./aliases";
import type { Goal } from "./goal";
import type { ResourceState } from "./resourceState";

/** Tells the user what is wrong and ends the run. */
export type Refuse = (message: string, urn: string) => never;

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
    private readonly refuse: Refuse,
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
    if (this.urns.has(urn)) this.refuse(`Duplicate resource URN '${urn}'; try giving it a unique name`, urn);
    this.urns.add(urn);
  }

  /** Its own URN first, then the aliases in their order; as `getOldResource`. */
  find(urn: string, goal: Pick<Goal, "name" | "type" | "parent" | "aliases">): Found {
    const taker = this.takenBy.get(urn);
    if (taker !== undefined)
      this.refuse(
        `Duplicate resource URN '${urn}' conflicting with alias on resource with URN '${taker}'`,
        urn,
      );
    const aliases = formerUrns(goal, this.place, (each) => this.former.get(each));
    for (const candidate of [urn, ...aliases]) {
      const old = this.byUrn.get(candidate);
      if (old === undefined) continue;
      if (candidate === urn) return { old, alias: undefined };
      const other = this.urns.has(candidate) ? urn : this.takenBy.get(candidate);
      if (other !== undefined)
        this.refuse(
          `Duplicate resource alias '${candidate}' applied to resource with URN '${urn}' conflicting with ` +
            `resource with URN '${other}'`,
          urn,
        );
      this.takenBy.set(candidate, urn);
      this.former.set(urn, candidate);
      return { old, alias: candidate };
    }
    return { old: undefined, alias: undefined };
  }
}

export interface Found {
  old: ResourceState | undefined;
  /** The former URN that it was found under. */
  alias: string | undefined;
}
