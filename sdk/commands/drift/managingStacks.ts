import { messageOf } from "../command";
import {
  type Backend,
  ENCRYPTED_CREATE,
  type ReadStack,
  type ReadStates,
  withoutStacks,
} from "../otherStates";
import type { Projects } from "../projects";
import { shownName } from "../stackNames";
import { managedEndpoints, mapConcurrently } from "../userProject";
import { accountReport, asUnchecked, type ManagingStacks, type ScannedAccount } from "./accounts";
import type { OtherStacks } from "./report";
import type { Scan } from "./scan";
import { type DriftStack, interrupted } from "./stack";

/* Which stacks manage the endpoints of the accounts: the checked ones, other stacks of the backends, or none. */

/** Reads what other stacks have. Tests replace it, so that they need no Pulumi CLI. */
export interface StateReader {
  backendsOf(projects: Projects["all"], signal: AbortSignal): Promise<Backend[]>;
  readStates(backends: readonly Backend[], signal: AbortSignal): Promise<ReadStates>;
}

/** Each other state costs about 0.3 s of processor time. Those of more stacks are read if something depends on them. */
const MAX_OTHER_STACKS = 50;

export interface AllStacks extends ManagingStacks {
  /** The states of the other stacks; empty if they were not read. */
  others: readonly ReadStack[];
  otherStacks: OtherStacks;
}

/**
 * Finds which stacks manage the endpoints of the accounts, and what other stacks manage besides. Checked stacks are read again if they
 * lack an endpoint, because an `up` may have created it meanwhile, and then the other stacks. All states are read after the list, so
 * each of its endpoints is in one of them, or its create is.
 */
export async function findManagingStacks(
  { stacks, masks }: Scan,
  opened: readonly DriftStack[],
  {
    projects,
    failOnUnmanaged,
    stopped,
  }: { projects: Projects; failOnUnmanaged: boolean; stopped: AbortSignal },
  { backendsOf, readStates }: StateReader,
): Promise<AllStacks> {
  const hasEmptyState = stacks.some(({ managed }) => managed?.length === 0);
  const managing: ManagingStacks = {
    checked: new Set(stacks.flatMap(({ managed = [] }) => managed.map(({ id }) => id))),
    elsewhere: new Set(),
    creating: [],
    isComplete: false,
    isNeeded: failOnUnmanaged || hasEmptyState || stacks.some(({ creates }) => creates.length > 0),
    isNeededInPools: failOnUnmanaged || hasEmptyState,
    ignored: projects.ignored,
  };
  const hasUnknown = (one: ScannedAccount) => accountReport(one, [], managing, masks).unknown > 0;
  const unread: OtherStacks["unread"] = [];
  const doubtful = stacks.filter((one) => one.managed && one.opened.some(hasUnknown));
  await mapConcurrently(doubtful, async ({ report: { name }, again }) => {
    try {
      for (const { id } of managedEndpoints(await again())) managing.checked.add(id);
    } catch (error) {
      unread.push({ name, reason: messageOf(error) });
    }
  });

  const otherStacks: OtherStacks = { backends: [], count: 0, isRead: false, unread };
  let others: readonly ReadStack[] = [];
  try {
    if (stopped.aborted) throw interrupted();
    // A checked stack that could not be read may be readable without its secrets.
    const read = opened.filter((_, index) => stacks[index]?.managed !== undefined);
    const backends = await withoutStacks(await backendsOf(projects.all, stopped), read);
    otherStacks.backends = backends.map(({ url }) => url);
    otherStacks.count = backends.flatMap((one) => one.stacks).length;
    const isWorthIt =
      managing.isNeeded || projects.file !== undefined || otherStacks.count <= MAX_OTHER_STACKS;
    if (!isWorthIt) return { ...managing, others, otherStacks };
    const states = await readStates(backends, stopped);
    others = states.stacks;
    otherStacks.isRead = true;
    const encrypted = others.filter(({ creates }) => creates.some(({ url }) => url === undefined));
    unread.push(...states.unread, ...encrypted.map(({ name }) => ({ name, reason: ENCRYPTED_CREATE })));
  } catch (error) {
    unread.push({ name: "the list of the backend's stacks", reason: messageOf(error) });
  }
  if (stopped.aborted)
    for (const { report } of stacks)
      report.unchecked.push(asUnchecked("what other stacks have", interrupted()));
  const begun = others.flatMap((one) => one.creates.map(({ url }) => ({ stack: shownName(one.name), url })));
  return {
    ...managing,
    elsewhere: new Set(others.flatMap(({ entries }) => entries.map(({ id }) => id))),
    creating: begun,
    isComplete: otherStacks.isRead && unread.length === 0,
    others,
    otherStacks,
  };
}
