import type { Goal } from "./goal";
import { goValue } from "./goFormat";
import type { Found } from "./identities";
import type { CheckFailure } from "./provider";
import { nameOf, newState, type ResourceState } from "./resourceState";

/** One line a failure. The value of a property that is a top-level input is printed, secret or not. */
export function checkMessages({ type, urn, inputs }: ResourceState, failures: CheckFailure[]): string[] {
  return failures.map(({ property, reason }) => {
    const what = property === "" ? "" : `: property ${property} value ${goValue(inputs[property])}`;
    return `${type} resource '${nameOf(urn)}'${what} has a problem: ${reason}`;
  });
}

/** Once imported, a resource is known by the id that the program gave, whatever id it has. */
export function isImport(goal: Goal, old: ResourceState | undefined): boolean {
  if (!goal.custom || goal.importId === "") return false;
  return old === undefined || old.external || (old.importID || old.id) !== goal.importId;
}

export function goalState(urn: string, goal: Goal, { old, alias }: Partial<Found>): ResourceState {
  return newState(urn, goal.type, {
    custom: goal.custom,
    inputs: goal.inputs,
    parent: goal.parent,
    protect: goal.protect ?? false,
    dependencies: goal.dependencies,
    propertyDependencies: goal.propertyDependencies,
    provider: goal.provider,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    aliases: alias === undefined ? [] : [alias],
    customTimeouts: goal.customTimeouts,
    importID: goal.importId,
    retainOnDelete: goal.retainOnDelete ?? false,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
    created: old?.created ?? "",
    modified: old?.modified ?? "",
  });
}
