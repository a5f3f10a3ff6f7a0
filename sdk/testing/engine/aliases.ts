import type { AliasSpec, Goal } from "./goal";
import { createUrn, nameOf, ROOT_STACK, typeOf } from "./resourceState";

/** Where the URNs of a run belong to. */
export interface Place {
  stack: string;
  project: string;
}

/**
 * The former URNs of a resource: those that its aliases say, and those that follow from an alias of its parent.
 * `formerOf` gives the URN under which a resource of this run was found, where that was an alias. As `generateAliases`.
 */
export function formerUrns(
  goal: Pick<Goal, "name" | "type" | "parent" | "aliases">,
  place: Place,
  formerOf: (urn: string) => string | undefined,
): string[] {
  const own = goal.aliases.map((alias) => collapse(alias, goal, place, formerOf));
  const formerParent = goal.parent === "" ? undefined : formerOf(goal.parent);
  if (formerParent === undefined) return [...new Set(own)];
  const inherit = (type: string, name: string) =>
    inherited(type, name, nameOf(goal.parent), formerParent, place);
  return [
    ...new Set([
      ...own,
      inherit(goal.type, goal.name),
      ...own.map((urn) => inherit(typeOf(urn), nameOf(urn))),
    ]),
  ];
}

/** What an alias leaves out is as it is now; as `collapseAliasToUrn`. */
function collapse(
  alias: AliasSpec,
  goal: Pick<Goal, "name" | "type" | "parent">,
  place: Place,
  formerOf: (urn: string) => string | undefined,
): string {
  if ("urn" in alias) return alias.urn;
  const given = alias.parent === "" ? goal.parent : (formerOf(alias.parent) ?? alias.parent);
  const parent = alias.noParent || typeOf(given) === ROOT_STACK ? "" : given;
  const { stack = "", project = "" } = alias;
  return createUrn(
    stack || place.stack,
    project || place.project,
    parent,
    alias.type || goal.type,
    alias.name || goal.name,
  );
}

/** A child that was named after its parent was named after the parent's former name; as `inheritedChildAlias`. */
function inherited(
  type: string,
  name: string,
  parentName: string,
  formerParent: string,
  place: Place,
): string {
  const former = name.startsWith(parentName) ? nameOf(formerParent) + name.slice(parentName.length) : name;
  return createUrn(place.stack, place.project, formerParent, type, former);
}
