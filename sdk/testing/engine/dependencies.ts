import { providerUrn, type ResourceState } from "./checkpoint";

/** The URNs that a resource depends on. Its parent is not one of them. */
function requiredUrns({ dependencies, propertyDependencies, provider }: ResourceState): Set<string> {
  const urns = [...dependencies, ...Object.values(propertyDependencies).flat()];
  return new Set(provider === "" ? urns : [...urns, providerUrn(provider)]);
}

/** The later states that depend directly or indirectly on this one, in order. A child is not a dependent. */
export function dependentsOf(
  root: ResourceState,
  states: ResourceState[],
  ignore: ReadonlySet<string> = new Set(),
): ResourceState[] {
  const found = new Set([root.urn]);
  return states.slice(states.indexOf(root) + 1).filter((state) => {
    if (ignore.has(state.urn) || ![...requiredUrns(state)].some((urn) => found.has(urn))) return false;
    return found.add(state.urn);
  });
}

/**
 * All states that a state depends on, including parents. A state that is being replaced depends on other replaced states if
 * there are any.
 */
export function requirementsOf(root: ResourceState, states: ResourceState[]): Set<ResourceState> {
  const found = new Set<ResourceState>();
  const visit = (state: ResourceState): void => {
    for (const urn of [...requiredUrns(state), state.parent]) {
      const named = states.filter((candidate) => candidate.urn === urn);
      const next = named.find((candidate) => candidate.delete === state.delete) ?? named[0];
      if (next === undefined || found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(root);
  return found;
}

/** The states to delete, in groups. No later group depends on an earlier one. */
export function deleteOrder(deletions: Iterable<ResourceState>, states: ResourceState[]): ResourceState[][] {
  const left = new Set(deletions);
  const groups: ResourceState[][] = [];
  while (left.size > 0) {
    const free = [...left].filter((state) => !directlyRequires(state, left, states));
    if (free.length === 0) throw new Error("the dependencies in the state form a cycle");
    for (const state of free) left.delete(state);
    groups.unshift(free);
  }
  return groups;
}

/** Whether the state depends on one of the `others` before it, or is its child. */
function directlyRequires(
  state: ResourceState,
  others: Set<ResourceState>,
  states: ResourceState[],
): boolean {
  const needed = requiredUrns(state).add(state.parent);
  const before = states.slice(0, states.indexOf(state));
  return before.some((candidate) => others.has(candidate) && needed.has(candidate.urn));
}

/** Removes references to resources that no longer exist. A state can only refer to URNs before it. */
export function withoutMissingReferences(states: ResourceState[]): ResourceState[] {
  const known = new Set<string>();
  for (const state of states) {
    const left = (urns: string[]) => urns.filter((urn) => known.has(urn));
    const byProperty = Object.entries(state.propertyDependencies).map(
      ([key, urns]) => [key, left(urns)] as const,
    );
    state.dependencies = left(state.dependencies);
    state.propertyDependencies = Object.fromEntries(byProperty.filter(([, urns]) => urns.length > 0));
    if (!known.has(state.parent)) state.parent = "";
    known.add(state.urn);
  }
  return states;
}
