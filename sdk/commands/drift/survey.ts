import { isNotFound, UserError } from "../../../provider/api/apiErrors";
import type { LiveEndpoint, Owner } from "../../../provider/api/contract";
import { ownerText } from "../../../provider/api/mark";
import type { ConfigReader } from "../../../provider/api/settings";
import { VERSION } from "../../../provider/api/version";
import { wrongType } from "../../../provider/endpoint/errors";
import { confirmGone } from "../../../provider/endpoint/gone";
import { look } from "../../../provider/endpoint/live";
import { belongsElsewhere } from "../../../provider/endpoint/owners";
import { hasSecrets } from "../../../provider/endpoint/secrets";
import { ACCOUNT_KEY, VERSION_KEY } from "../../../provider/endpoint/state";
import { count, grouped } from "../text";
import { explicitProviders, type Managed, managedEndpoints } from "../userProject";
import { type Account, Accounts, asUnchecked, seenOf } from "./accounts";
import { driftOf } from "./compare";
import type { DriftedEndpoint, SharedEndpoint, StackReport, Unchecked } from "./report";
import { type DriftStack, interrupted } from "./stack";

/*
 * Compares stacks with the service: reads all states, then lists the accounts, then compares here, with the functions that a
 * refresh uses. The order matters: what the states have must be in a later list.
 */

export interface SurveyDependencies {
  /** Receives messages. */
  log(message: string): void;
  /** Nothing new may begin. */
  stopped: AbortSignal;
}

export interface Survey {
  stacks: SurveyedStack[];
  accounts: Account[];
}

export interface SurveyedStack {
  stack: DriftStack;
  report: StackReport;
  /** All endpoints that the stack manages; undefined if its state could not be read. */
  managed: readonly Managed[] | undefined;
  /** The URNs of the endpoints that were compared. */
  checked: ReadonlySet<string>;
  /** By id, who took an endpoint over. */
  takers: ReadonlyMap<string, Owner>;
  /** Those that it manages now. An `up` may run beside the check. Reads the state once. */
  again(): Promise<readonly Managed[]>;
}

/** How many stacks are read at once: each export of a state is a process, and may be large. */
const AT_ONCE = 4;

/** The results of the work on all items, a few at once. */
export async function pooled<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/**
 * Surveys stacks. After an interruption nothing new begins, and the rest is reported as unchecked.
 *
 * @param before These stacks before a repair, which may have written the live values into their states.
 */
export async function survey(
  stacks: readonly DriftStack[],
  deps: SurveyDependencies,
  before: readonly SurveyedStack[] = [],
): Promise<Survey> {
  const accounts = new Accounts(deps.log, deps.stopped);
  let done = 0;
  const read = await pooled(stacks, async (stack) => {
    const found = await readStack(stack, deps, accounts);
    // A log gets ten lines.
    if (++done === stacks.length || done % Math.ceil(stacks.length / 10) === 0)
      deps.log(`${done} of ${count(stacks.length, "stack")} read`);
    return found;
  });
  await accounts.list();
  return {
    stacks: await pooled(read, (one) =>
      compared(one, deps.stopped, before.find(({ stack }) => stack === one.stack)?.managed ?? []),
    ),
    accounts: accounts.all,
  };
}

/** A stack before its comparison with the service. */
interface ReadStack {
  stack: DriftStack;
  managed: Managed[] | undefined;
  /** The accounts of its endpoints. */
  accounts: Map<Managed, Account>;
  failures: Unchecked[];
  /** Why its state may not match the program. */
  reasons: string[];
}

async function readStack(
  stack: DriftStack,
  { stopped }: SurveyDependencies,
  accounts: Accounts,
): Promise<ReadStack> {
  const read: ReadStack = { stack, managed: undefined, accounts: new Map(), failures: [], reasons: [] };
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      if (stopped.aborted) throw interrupted();
      return await work();
    } catch (error) {
      read.failures.push(asUnchecked(what, stopped.aborted ? interrupted() : error));
      return undefined;
    }
  };
  const found = await attempt("the stack's state", async () => {
    const state = await stack.state();
    const pending = state.deployment.pending_operations?.length ?? 0;
    return { managed: managedEndpoints(state), explicit: explicitProviders(state), pending };
  });
  if (!found) return read;
  const { managed, explicit, pending } = found;
  read.managed = managed;
  if (await attempt("the stack's history", () => stack.lastUpdateFailed()))
    read.reasons.push("its last update failed");
  if (pending > 0)
    read.reasons.push(
      `${count(pending, "operation")} of a killed run pending (after \`pulumi cancel\`, run \`pulumi refresh --clear-pending-creates\`)`,
    );

  const own = await attempt("the stack's configuration", () => stack.config());
  if (!own) return read;
  const ofAccount = grouped(managed, ({ provider }) => (explicit.has(provider) ? provider : ""));
  if (managed.length === 0) ofAccount.set("", []);
  for (const provider of explicit.keys()) if (!ofAccount.has(provider)) ofAccount.set(provider, []);
  for (const [provider, endpoints] of ofAccount) {
    const inputs = explicit.get(provider) ?? {};
    const config: ConfigReader = (key) => {
      const value = inputs[key.replace(/^endpoints:/, "")];
      return value === undefined || value === null ? own(key) : String(value);
    };
    const account = accounts.open(config, stack.name, endpoints.length > 0);
    if (account) for (const endpoint of endpoints) read.accounts.set(endpoint, account);
  }
  return read;
}

/** Every managed endpoint is compared, or is reported as unchecked: itself, its account or the stack's configuration. */
async function compared(
  { stack, managed, accounts, failures, reasons }: ReadStack,
  stopped: AbortSignal,
  expected: readonly Managed[],
): Promise<SurveyedStack> {
  let second: Promise<readonly Managed[]> | undefined;
  const again = () => {
    second ??= stopped.aborted ? Promise.reject(interrupted()) : stack.state().then(managedEndpoints);
    return second;
  };
  const current = managed?.filter(({ isOld }) => !isOld) ?? [];
  const drifted: DriftedEndpoint[] = [];
  const missed: Unchecked[] = [];
  const checked = new Set<string>();
  const takers = new Map<string, Owner>();
  // The evidence for "gone" of a refresh: the stack's other endpoints.
  const known = new Map(current.map(({ id, outputs }) => [id, outputs[ACCOUNT_KEY]]));
  const check = async (endpoint: Managed) => {
    const { urn, id, name } = endpoint;
    const account = accounts.get(endpoint);
    if (!account?.cloud) return;
    try {
      assertNotLater(endpoint);
      const live = await liveOf(endpoint, account, known);
      const taker = live && belongsElsewhere(live, endpoint.outputs);
      const before = expected.find((one) => one.urn === urn && !one.isOld);
      const drift = driftOf(endpoint, live, before);
      if ((drift || taker) && !isSame(endpoint, await again())) throw changedMeanwhile();
      if (taker) takers.set(id, taker);
      checked.add(urn);
      if (drift) drifted.push({ ...drift, ...(live && seenOf(live)) });
    } catch (error) {
      missed.push(asUnchecked(`${name} (${id})`, stopped.aborted ? interrupted() : error));
    }
  };
  await Promise.all(current.map(check));
  const report: StackReport = {
    name: stack.name,
    project: stack.project,
    endpoints: current.length,
    compared: checked.size,
    ...(reasons.length > 0 && { undeployed: reasons.join(", ") }),
    drifted: drifted.sort((a, b) => (a.name < b.name ? -1 : 1)),
    unchecked: [...failures, ...missed],
  };
  return { stack, report, managed, checked, takers, again };
}

/** The live endpoint, as a refresh reads it; undefined if it is gone. */
async function liveOf(
  { id, outputs: stored }: Managed,
  account: Account,
  accounts: ReadonlyMap<string, unknown>,
): Promise<LiveEndpoint | undefined> {
  if (!account.api) return undefined;
  const api = account.api.about({ hasSecrets: () => hasSecrets(stored) });
  const live = await look(api, id, stored).catch((notFound: unknown) => {
    if (!isNotFound(notFound)) throw notFound;
    return confirmGone(api, { id, stored, notFound, accounts });
  });
  if (live?.type !== undefined && live.type !== "cloud") throw wrongType(id, live.type);
  return live;
}

/**
 * @throws UserError if a later version of the package wrote the state. This one may not know all of its fields. A pre-release
 *   counts as its release.
 */
function assertNotLater({ outputs }: Managed): void {
  const [wrote = "", own = ""] = [String(outputs[VERSION_KEY] ?? ""), VERSION].map((version) =>
    version.replace(/[-+].*/, ""),
  );
  if (wrote.localeCompare(own, "en", { numeric: true }) > 0)
    throw new UserError(
      `version ${wrote} of pulumi-endpoints wrote its state, and this is ${own}: install that version here`,
    );
}

/** Whether a later state of the stack has the same entry. */
function isSame({ urn, id, inputs, outputs }: Managed, later: readonly Managed[]): boolean {
  const now = later.find((one) => one.urn === urn && one.id === id);
  return now !== undefined && JSON.stringify([now.inputs, now.outputs]) === JSON.stringify([inputs, outputs]);
}

const changedMeanwhile = () =>
  new UserError("an update of the stack changed it during the check: run the command again");

/**
 * Endpoints that are in several states, or twice in one state, or that a resource of another stack took over. A `destroy` of
 * one resource may delete the endpoint of the other.
 */
export function sharedEndpoints(stacks: readonly SurveyedStack[]): SharedEndpoint[] {
  const entries = stacks.flatMap(({ stack, managed = [] }) =>
    managed.filter(({ isOld }) => !isOld).map(({ id, name, urn }) => ({ id, stack: stack.name, name, urn })),
  );
  const takers = new Map(stacks.flatMap((stack) => [...stack.takers]));
  return [...grouped(entries, ({ id }) => id)].flatMap(([id, same]) => {
    const taker = takers.get(id);
    if (same.length === 1 && !taker) return [];
    const resources = same.map(({ stack, name, urn }) => ({ stack, name, urn }));
    return [{ id, ...(taker && { takenOverBy: ownerText(taker) }), resources }];
  });
}
