import type { UserError } from "../service/apiErrors";
import { alreadyManaged, notDeleted, sharedEndpoint } from "./errors";
import type { PreviewInputs } from "./fields";
import { ENTRY_ID_KEY, type State } from "./state";

/*
 * Who has an endpoint: an endpoint belongs to one entry of the stack's state. A random id tells entries apart, because names of
 * resources change, and a dynamic provider does not receive them. A process knows only the entries that it has met: with `--target`, Pulumi
 * asks the provider about the targets only, and other stacks and providers have processes of their own.
 *
 * A resource that adopts or imports an endpoint claims it first. Until its new entry is stored, nothing deletes the endpoint.
 */

/** What this process knows of an endpoint. */
interface Ownership {
  /** The entries whose deletion was not asked for, by their ids, with what the program wants for each (`resourceKeyOf`). */
  readonly entries: Map<unknown, unknown>;
  /** The resource that will have the endpoint, if it is known, and the error of a deletion before that. */
  claim?: { key: unknown; refusal: UserError };
}

export class Owners {
  private readonly endpoints = new Map<string, Ownership>();
  /** The resources of the program that the state has (`resourceKeyOf`), and whether Pulumi has compared them with it. */
  private readonly inState = new Map<unknown, boolean>();

  constructor(private readonly stack: () => string | undefined) {}

  /** Records an entry, without what the program wants for it. */
  recordEntry(id: string, { [ENTRY_ID_KEY]: entryId }: State): void {
    const { entries } = this.of(id);
    if (!entries.has(entryId)) entries.set(entryId, undefined);
  }

  /**
   * Records an entry with what the program wants for it.
   *
   * @throws UserError if another resource of the program has the endpoint, or will have it.
   */
  recordWanted(id: string, state: State, inputs: PreviewInputs): void {
    const key = resourceKeyOf(inputs);
    const { entries, claim } = this.of(id);
    entries.set(state[ENTRY_ID_KEY], key);
    if (this.inState.has(key)) this.inState.set(key, true);
    if (claim?.key !== undefined && claim.key !== key) throw alreadyManaged(id);
    if ([...entries.values()].some((other) => other !== undefined && other !== key))
      throw sharedEndpoint(id, this.stack());
  }

  /** @throws UserError if two entries have the endpoint that one of them is about to change. */
  assertSole(id: string, state: State): void {
    this.recordEntry(id, state);
    if (this.of(id).entries.size > 1) throw sharedEndpoint(id, this.stack());
  }

  /** Records a resource of the program that the state has. */
  recordInState(inputs: PreviewInputs): void {
    const key = resourceKeyOf(inputs);
    if (key !== undefined && !this.inState.has(key)) this.inState.set(key, false);
  }

  /**
   * Whether a new entry of the resource may take the endpoint that the stack's configuration names. If the state has the resource, the
   * answer is no until Pulumi has compared the two: only then is it known which endpoint the old entry has.
   */
  mayTake(id: string, inputs: PreviewInputs): boolean {
    const isCompared = this.inState.get(resourceKeyOf(inputs)) ?? true;
    return isCompared && (!this.hasEntry(id) || this.isOwn(id, inputs));
  }

  /**
   * Claims the endpoint for a resource that adopts it. A refused claim also keeps the endpoint from deletion.
   *
   * @param inputs The inputs of the resource; undefined for an import.
   * @throws UserError if another entry or another claim has the endpoint.
   */
  claim(id: string, inputs?: PreviewInputs): void {
    const ownership = this.of(id);
    const key = inputs ? resourceKeyOf(inputs) : Symbol("import");
    const isFree = ownership.entries.size === 0 || (inputs !== undefined && this.isOwn(id, inputs));
    if (ownership.claim?.key === undefined) ownership.claim = { key, refusal: notDeleted(id) };
    if (!isFree || ownership.claim.key !== key) throw alreadyManaged(id);
  }

  /** Keeps the endpoint from deletion, because a resource that failed may be the one that the endpoint was made for. */
  keepFromDeletion(id: string, refusal: UserError): void {
    this.of(id).claim ??= { key: undefined, refusal };
  }

  /** Records the new entry of a create, an adoption or an import, and ends its claim. */
  recordNewEntry(id: string, entryId: unknown, inputs?: PreviewInputs): void {
    const ownership = this.of(id);
    ownership.entries.set(entryId, inputs && resourceKeyOf(inputs));
    delete ownership.claim;
  }

  /**
   * Records that an entry's deletion was asked for.
   *
   * @returns Whether another entry has the endpoint, so that it must not be deleted.
   * @throws UserError if a resource of this run may need the endpoint.
   */
  recordDeletion(id: string, { [ENTRY_ID_KEY]: entryId }: State): boolean {
    const { entries, claim } = this.of(id);
    if (claim) throw claim.refusal;
    entries.delete(entryId);
    return entries.size > 0;
  }

  /** Whether this process has met the endpoint in an entry. */
  hasEntry = (id: string): boolean => this.of(id).entries.size > 0;

  /** Whether the program still has a resource with the endpoint. An entry alone may be of a removed one, because a refresh compares all. */
  isWanted = (id: string): boolean => [...this.of(id).entries.values()].some((key) => this.inState.has(key));

  /**
   * Whether the endpoint's only entry is this resource's own: Pulumi skipped its deletion in a replacement, and creates the resource
   * anew beside it.
   */
  isOwn(id: string, inputs: PreviewInputs): boolean {
    const wanted = [...this.of(id).entries.values()];
    const key = resourceKeyOf(inputs);
    return this.inState.get(key) === true && wanted.length === 1 && wanted[0] === key;
  }

  private of(id: string): Ownership {
    const known = this.endpoints.get(id) ?? { entries: new Map() };
    this.endpoints.set(id, known);
    return known;
  }
}

/**
 * What tells two resources of a program apart: the URL, and in a pool the id of `adopt`, because members share their URL.
 * `urlRegistry.ts` refuses a program in which two resources have the same key. Undefined for a member of a pool without `adopt`.
 */
const resourceKeyOf = ({ adopt, poolingEnabled, url }: PreviewInputs): unknown =>
  poolingEnabled === true ? adopt : url;
