import { createUrn, nameInUrn, type ResourceState, typeInUrn, type UrnScope } from "./checkpoint";
import type { Alias, Goal } from "./goals";

/** Finds the old state of a registered resource: by its URN, or by the first alias that has a state. */
export class Identities {
  readonly registered = new Set<string>();
  private readonly currentByFormer = new Map<string, string>();
  private readonly formerByCurrent = new Map<string, string>();
  private readonly byUrn: Map<string, ResourceState>;

  constructor(
    private readonly scope: UrnScope,
    olds: ResourceState[],
  ) {
    this.byUrn = new Map(olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  old(urn: string): ResourceState | undefined {
    return this.byUrn.get(urn);
  }

  /** Whether this run has registered a resource of the last run, under its former or its current URN. */
  isRegistered(urn: string): boolean {
    return this.registered.has(this.currentByFormer.get(urn) ?? urn);
  }

  find(urn: string, goal: Goal): ResourceState | undefined {
    if (this.registered.has(urn))
      throw new Error(`Duplicate resource URN '${urn}'; try giving it a unique name`);
    this.registered.add(urn);
    const found = [urn, ...this.formerUrns(goal)].find((each) => this.byUrn.has(each)) ?? urn;
    const other = this.currentByFormer.get(found) ?? (this.registered.has(found) ? found : urn);
    if (other !== urn)
      throw new Error(`'${urn}' and '${other}' both have the old resource '${found}', by name or alias`);
    if (found !== urn) {
      this.currentByFormer.set(found, urn);
      this.formerByCurrent.set(urn, found);
    }
    return this.byUrn.get(found);
  }

  /** The former URNs: from the resource's aliases, and from the alias by which its parent was found. */
  private formerUrns({ name, state: { type, parent }, aliases }: Goal): string[] {
    const own = aliases.map((alias) => this.urnOfAlias(alias, name, type));
    const formerParent = this.formerByCurrent.get(parent);
    if (formerParent === undefined) return own;
    const inherited = [{ type, name }, ...own.map((urn) => ({ type: typeInUrn(urn), name: nameInUrn(urn) }))];
    const parentName = nameInUrn(parent);
    return [
      ...own,
      ...inherited.map(({ type, name }) => {
        // If the child's name begins with the parent's name, its former name began with the parent's former name.
        const isNamedAfter = name.startsWith(parentName);
        const former = isNamedAfter ? nameInUrn(formerParent) + name.slice(parentName.length) : name;
        return createUrn(this.scope, formerParent, type, former);
      }),
    ];
  }

  /** The URN of an alias. Missing parts have their current value, except the parent, which the SDK always sets. */
  private urnOfAlias(alias: Alias, name: string, type: string): string {
    if ("urn" in alias) return alias.urn;
    const former = alias.noparent ? "" : (this.formerByCurrent.get(alias.parenturn) ?? alias.parenturn);
    const scope = {
      stack: alias.stack || this.scope.stack,
      project: alias.project || this.scope.project,
    };
    return createUrn(scope, former, alias.type || type, alias.name || name);
  }
}
