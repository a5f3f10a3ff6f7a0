import { isProviderType, type ResourceState, ROOT_STACK, typeOf } from "./resourceState";
import type { Step } from "./step";

/**
 * What a run is confined to. Everything, unless it has targets; then these, and what is Pulumi's own: providers and the
 * stack. As `isIncludedInOperation`, and what `continueStepsFromRefreshOrImport` makes of the rest.
 */
export class Targets {
  private readonly urns: ReadonlySet<string>;

  constructor(urns: readonly string[] = []) {
    this.urns = new Set(urns);
  }

  has(urn: string): boolean {
    const type = typeOf(urn);
    return this.urns.size === 0 || this.urns.has(urn) || isProviderType(type) || type === ROOT_STACK;
  }

  /** What is no target stays as the state has it, whatever the program says; as `NewUntargetedSameStep`. */
  leave(urn: string, old: ResourceState | undefined, done?: (state: ResourceState) => void): Step {
    if (!old)
      throw new Error(
        `the test engine does not skip a creation, and ${urn} is new, but not among the targets`,
      );
    return { op: "same", urn: old.urn, old, new: { ...old }, logical: true, ...(done && { done }) };
  }
}
