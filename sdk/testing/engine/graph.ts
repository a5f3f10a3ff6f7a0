import { dependenciesOf, type ResourceState } from "./resourceState";

/**
 * The dependencies between the states of a checkpoint, which are in an order in which each comes after what it depends
 * on. One URN may have several states: the present one, and old ones that wait to be deleted. As `DependencyGraph`.
 */
export class Graph {
  private readonly index: Map<ResourceState, number>;

  constructor(private readonly states: ResourceState[]) {
    this.index = new Map(states.map((state, i) => [state, i]));
  }

  /** All that depends on the state, directly or not, in order; parents do not count. As `DependingOn`. */
  dependingOn(root: ResourceState, ignore: Set<string>): ResourceState[] {
    const found = new Set([root.urn]);
    const after = this.states.slice((this.index.get(root) ?? this.states.length) + 1);
    return after.filter((state) => {
      if (ignore.has(state.urn) || ![...dependenciesOf(state)].some((urn) => found.has(urn))) return false;
      found.add(state.urn);
      return true;
    });
  }

  /**
   * What the state directly depends on: its parent, what its properties name, its provider, and the children of a
   * component among these. As `DependenciesOf`.
   */
  dependenciesOf(state: ResourceState): Set<ResourceState> {
    const urns = dependenciesOf(state);
    const before = this.states.slice(0, this.index.get(state) ?? 0);
    const found = new Set<ResourceState>();
    for (const candidate of before) {
      if (candidate.urn === state.parent) found.add(candidate);
      if (!urns.has(candidate.urn)) continue;
      found.add(candidate);
      if (!candidate.custom) for (const child of this.childrenOf(candidate.urn, before)) found.add(child);
    }
    return found;
  }

  private childrenOf(urn: string, among: ResourceState[]): ResourceState[] {
    const parents = new Set([urn]);
    return among.filter((state) => parents.has(state.parent) && parents.add(state.urn));
  }

  /** As `TransitiveDependenciesOf`: parents and providers count; an old state refers to old ones where there are any. */
  transitiveDependenciesOf(root: ResourceState): Set<ResourceState> {
    const found = new Set<ResourceState>();
    const visit = (state: ResourceState): void => {
      const urns = [...dependenciesOf(state), state.parent].filter((urn) => urn !== "");
      for (const urn of urns) {
        const named = this.states.filter((candidate) => candidate.urn === urn);
        const next = named.find((candidate) => candidate.delete === state.delete) ?? named[0];
        if (next === undefined || found.has(next)) continue;
        found.add(next);
        visit(next);
      }
    };
    visit(root);
    return found;
  }

  /**
   * Groups what is to be deleted so that each group can go at once, after the groups before it: first what nothing
   * depends on. As `ScheduleDeletes`.
   */
  deleteOrder(condemned: Set<ResourceState>): ResourceState[][] {
    const left = new Set(condemned);
    const groups: ResourceState[][] = [];
    while (left.size > 0) {
      const free = [...left].filter(
        (state) => ![...this.dependenciesOf(state)].some((each) => left.has(each)),
      );
      if (free.length === 0) throw new Error("the state's dependencies go in a circle");
      for (const state of free) left.delete(state);
      groups.unshift(free);
    }
    return groups;
  }
}

/**
 * Drops dependencies on what is gone, and gives orphans the parent of their parent. The order is a topological one, so
 * a state may refer only to URNs before it. As `rebuildBaseState` and `undangleParentResources`.
 */
export function withoutDangling(states: ResourceState[]): ResourceState[] {
  const known = new Set<string>();
  for (const state of states) {
    const here = (urns: string[]): string[] => urns.filter((urn) => known.has(urn));
    state.dependencies = here(state.dependencies);
    state.propertyDependencies = Object.fromEntries(
      Object.entries(state.propertyDependencies)
        .map(([key, urns]) => [key, here(urns)] as const)
        .filter(([, urns]) => urns.length > 0),
    );
    known.add(state.urn);
  }
  const parents = new Map<string, string>();
  for (const state of states) {
    if (!known.has(state.parent)) state.parent = parents.get(state.parent) ?? "";
    parents.set(state.urn, state.parent);
  }
  return states;
}
