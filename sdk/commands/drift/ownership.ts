import { messageOf } from "../command";
import {
  type Backend,
  ENCRYPTED_CREATE,
  type ReadStack,
  type ReadStates,
  withoutStacks,
} from "../otherStates";
import type { Projects } from "../projects";
import { managedEndpoints, mapConcurrently } from "../userProject";
import { accountReport, type Ownership, type ScannedAccount } from "./accounts";
import type { OtherStacks } from "./report";
import type { Scan } from "./scan";
import { type DriftStack, interrupted } from "./stack";

/* Who has the endpoints that no checked stack has: another stack of the backends, or none. */

/** Reads what other stacks have. Tests replace it, so that they need no Pulumi CLI. */
export interface StateReader {
  backendsOf(projects: Projects["all"]): Promise<Backend[]>;
  readStates(backends: readonly Backend[], signal: AbortSignal): Promise<ReadStates>;
}

/** The states of so many other stacks are read in a few seconds. Those of more are read if something depends on them. */
const MAX_OTHER_STACKS = 50;

export interface Owners extends Ownership {
  others: readonly ReadStack[];
  /** Undefined if the checked stacks have all endpoints. */
  otherStacks?: OtherStacks;
}

/**
 * Finds who has the endpoints that the checked stacks do not have. Those stacks are read again, because an `up` may have created an
 * endpoint meanwhile, and then the other stacks. All states are read after the list, so each of its endpoints is in one of them, or
 * its create is.
 */
export async function findOwners(
  { stacks, accounts, masks }: Scan,
  opened: readonly DriftStack[],
  {
    projects,
    failOnUnmanaged,
    stopped,
  }: { projects: Projects; failOnUnmanaged: boolean; stopped: AbortSignal },
  { backendsOf, readStates }: StateReader,
): Promise<Owners> {
  const owners: Owners = {
    managed: new Set(stacks.flatMap(({ managed = [] }) => managed.map(({ id }) => id))),
    elsewhere: new Set(),
    isComplete: false,
    // A pending create or a lost state gets a line only if its owner is known.
    isNeeded: failOnUnmanaged || stacks.some((one) => one.creates.length > 0 || one.managed?.length === 0),
    ignored: projects.ignored,
    others: [],
  };
  const hasUnknown = (one: ScannedAccount) => accountReport(one, [], owners, masks).unknown > 0;
  const unread: OtherStacks["unread"] = [];
  const doubtful = stacks.filter((one) => one.managed && one.opened.some(hasUnknown));
  await mapConcurrently(doubtful, async ({ report: { name }, again }) => {
    try {
      for (const { id } of managedEndpoints(await again())) owners.managed.add(id);
    } catch (error) {
      unread.push({ name, reason: messageOf(error) });
    }
  });
  if (![...accounts.keys()].some(hasUnknown)) return owners;

  const otherStacks: OtherStacks = { backends: [], count: 0, isRead: false, unread };
  try {
    if (stopped.aborted) throw interrupted();
    // A checked stack that could not be read may be readable without its secrets.
    const read = opened.filter((_, index) => stacks[index]?.managed !== undefined);
    const backends = await withoutStacks(await backendsOf(projects.all), read);
    otherStacks.backends = backends.map(({ url }) => url);
    otherStacks.count = backends.flatMap((one) => one.stacks).length;
    const isWorthIt = owners.isNeeded || projects.file !== undefined || otherStacks.count <= MAX_OTHER_STACKS;
    if (!isWorthIt) return { ...owners, otherStacks };
    const states = await readStates(backends, stopped);
    const creates = states.stacks.flatMap((one) => one.creates);
    const creating = states.stacks.filter((one) => one.creates.some(({ url }) => url === undefined));
    unread.push(...states.unread, ...creating.map(({ name }) => ({ name, reason: ENCRYPTED_CREATE })));
    const ids = states.stacks.flatMap(({ entries }) => entries.map(({ id }) => id));
    owners.elsewhere = new Set([...ids, ...creates.flatMap(({ url }) => url ?? [])]);
    owners.others = states.stacks;
    otherStacks.isRead = true;
  } catch (error) {
    unread.push({ name: "the list of the backend's stacks", reason: messageOf(error) });
  }
  return { ...owners, isComplete: unread.length === 0, otherStacks };
}
