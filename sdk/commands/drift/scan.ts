import { UserError } from "../../../provider/data/index";
import { readManaged } from "../../../provider/endpoint/readEndpoint";
import { hasSecrets } from "../../../provider/endpoint/secrets";
import { VERSION_KEY } from "../../../provider/endpoint/state";
import { VERSION } from "../../../provider/service/version";
import type { ExportedState } from "../../pulumi-cli/index";
import { UsageError } from "../command";
import { shownName } from "../stackNames";
import { count, groupBy } from "../text";
import {
  explicitProviders,
  type ManagedEndpoint,
  managedEndpoints,
  mapConcurrently,
  type PendingCreate,
  pendingCreates,
  type StateEntry,
} from "../userProject";
import {
  accountsOf,
  asUnchecked,
  changeTimeOf,
  listAccount,
  type ScannedAccount,
  ScannedAccounts,
} from "./accounts";
import { driftOf } from "./compare";
import type { SharedEndpoint, StackReport } from "./report";
import { SecretTexts } from "./secretTexts";
import { type DriftStack, interrupted, type Updates } from "./stack";

/*
 * Compares stacks with the service in three steps: reads the states, lists the accounts, and compares, with the functions of a
 * refresh. An `up` may run at the same time, so the order matters: an endpoint in a state must be in the list that follows.
 */

interface ScanDependencies {
  /** Receives messages. */
  log(message: string): void;
  /** Aborted by an interruption. Then nothing new may begin. */
  stopped: AbortSignal;
}

export interface Scan {
  stacks: StackScan[];
  /** The accounts, with the names of their stacks. */
  accounts: Map<ScannedAccount, string[]>;
  masks: SecretTexts;
}

/** A stack on its way through the check: what was read, and the report, which each step completes. */
export interface StackScan {
  report: StackReport;
  /** All endpoints that the stack manages; undefined if its state could not be read. */
  managed: readonly ManagedEndpoint[] | undefined;
  creates: readonly PendingCreate[];
  /** All accounts that the stack uses, and those of its endpoints, also of those to be created. */
  opened: ScannedAccount[];
  accounts: Map<ManagedEndpoint, ScannedAccount>;
  /** The state now, because an `up` may run beside the check. It is read at most once. */
  again(): Promise<ExportedState>;
}

/** Scans stacks. After an interruption nothing new begins, and the rest is reported as unchecked. */
export async function scan(stacks: readonly DriftStack[], deps: ScanDependencies): Promise<Scan> {
  const { log, stopped } = deps;
  const met = new ScannedAccounts(log);
  let done = 0;
  const scans = await mapConcurrently(stacks, async (stack) => {
    const read = await readStack(stack, stopped, met);
    // The log gets about ten lines.
    if (++done === stacks.length || done % Math.ceil(stacks.length / 10) === 0)
      log(`${done} of ${count(stacks.length, "stack")} read`);
    return read;
  });
  const accounts = new Map<ScannedAccount, string[]>();
  for (const { opened, report } of scans)
    for (const account of new Set(opened))
      accounts.set(account, [...(accounts.get(account) ?? []), report.name]);
  // A stack whose state was lost has no endpoint, and no check may pass that has looked at no account.
  if (accounts.size === 0 && met.unused)
    for (const { report } of scans) report.unchecked.push(asUnchecked("the account", met.unused));
  for (const account of accounts.keys()) await listAccount(account, deps);
  const masks = SecretTexts.of(
    scans.flatMap(({ managed = [], creates }) => [...managed, ...creates.map(({ wanted }) => wanted)]),
  );
  await mapConcurrently(scans, (one) => compareStack(one, stopped, masks));
  return { stacks: scans, accounts, masks };
}

async function readStack(stack: DriftStack, stopped: AbortSignal, met: ScannedAccounts): Promise<StackScan> {
  const { name, project } = stack;
  const report: StackReport = {
    ...{ name, project, endpoints: 0, compared: 0, drifted: [], pendingOperations: 0 },
    ...{ pendingCreates: [], unchecked: [] },
  };
  let later: Promise<ExportedState> | undefined;
  const again = () => (later ??= stopped.aborted ? Promise.reject(interrupted()) : stack.state());
  const nothing = { report, managed: undefined, creates: [], opened: [], accounts: new Map(), again };
  /** The result; undefined, and unchecked in the report, if the work fails. */
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      if (stopped.aborted) throw interrupted();
      return await work();
    } catch (error) {
      if (error instanceof UsageError) throw error;
      report.unchecked.push(asUnchecked(what, stopped.aborted ? interrupted() : error));
      return undefined;
    }
  };
  const read = await attempt("the stack's state", async () => {
    const state = await stack.state();
    const operations = state.deployment.pending_operations ?? [];
    const [managed, creates] = [managedEndpoints(state), pendingCreates(state)];
    return { managed, creates, operations, explicit: explicitProviders(state) };
  });
  if (!read) return nothing;
  const { managed, creates, operations, explicit } = read;
  report.endpoints = current(managed).length;
  report.pendingOperations = operations.length;
  const updates = await attempt("the stack's history", () => stack.updates());
  const reasons = undeployedReasons(updates, creates, operations);
  if (reasons.length > 0) report.undeployed = reasons.join(", ");

  const own = await attempt("the stack's configuration", () => stack.config());
  if (!own) return { ...nothing, managed, creates };
  const all = [...new Set([...managed, ...creates.map(({ wanted }) => wanted)])];
  const used = accountsOf(all, explicit, own, met);
  const accounts = new Map(
    [...used].flatMap(([account, some]) => some.map((one) => [one, account] as const)),
  );
  return { report, managed, creates, opened: [...used.keys()], accounts, again };
}

/** Why the state may not match the program. */
function undeployedReasons(
  { result, isRewritten }: Updates = { result: "succeeded", isRewritten: false },
  creates: readonly PendingCreate[],
  operations: NonNullable<ExportedState["deployment"]["pending_operations"]>,
): string[] {
  const pending = new Set(creates.map(({ wanted }) => wanted.urn));
  const others = operations.filter(({ resource }) => !pending.has(resource.urn)).length;
  const what = creates.length > 0 ? "other operation" : "operation";
  return [
    result !== "succeeded" && (UNSUCCESSFUL[result] ?? `its last update ended as ${result}`),
    isRewritten && REWRITTEN,
    creates.length > 0 && `${count(creates.length, "create")} pending`,
    others > 0 && `${count(others, what)} of a killed run pending`,
  ].filter((reason) => reason !== false);
}

/** Why the state may not match the program, by the result of the last update. */
const UNSUCCESSFUL: Record<string, string> = {
  failed: "its last update failed",
  "in-progress": "its last update is in progress, or was killed",
};

/** No comparison finds edits in the state. */
const REWRITTEN = "a refresh since the last `up` may have written edits into the state";

const current = (managed: readonly ManagedEndpoint[]) => managed.filter(({ isOld }) => !isOld);

/** Compares a stack. The report has each endpoint that was not compared, its account or the stack's configuration as unchecked. */
async function compareStack(
  { report, managed = [], accounts, again }: StackScan,
  stopped: AbortSignal,
  masks: SecretTexts,
): Promise<void> {
  const compare = async (endpoint: ManagedEndpoint) => {
    const account = accounts.get(endpoint);
    if (!account?.api || !account.cloud) return;
    assertNotLater(endpoint);
    const api = account.api.redacting({ hasSecrets: () => hasSecrets(endpoint.outputs) });
    const live = await readManaged(api, endpoint.id, endpoint.outputs);
    const drift = driftOf(endpoint, live, masks);
    if (drift && !isSame(endpoint, managedEndpoints(await again()))) throw changedMeanwhile();
    report.compared++;
    if (drift) report.drifted.push({ ...drift, ...(live && changeTimeOf(live)) });
  };
  const attempts = current(managed).map((endpoint) =>
    compare(endpoint).catch((error: unknown) => {
      const what = `${endpoint.name} (${endpoint.id})`;
      report.unchecked.push(asUnchecked(what, stopped.aborted ? interrupted() : error));
    }),
  );
  await Promise.all(attempts);
  report.drifted.sort(byName);
}

export const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/**
 * @throws UserError if a later version of the package wrote the state. This version may not know all fields of it. A
 *   pre-release counts as its release.
 */
function assertNotLater({ outputs }: ManagedEndpoint): void {
  const [wrote = "", own = ""] = [String(outputs[VERSION_KEY] ?? ""), VERSION].map((version) =>
    version.replace(/[-+].*/, ""),
  );
  if (wrote.localeCompare(own, "en", { numeric: true }) > 0)
    throw new UserError(
      `version ${wrote} of pulumi-endpoints wrote its state, and this is ${own}: install that version here`,
    );
}

/** Whether a later state of the stack has the same entry. */
function isSame({ urn, id, inputs, outputs }: ManagedEndpoint, later: readonly ManagedEndpoint[]): boolean {
  const now = later.find((one) => one.urn === urn && one.id === id);
  return now !== undefined && JSON.stringify([now.inputs, now.outputs]) === JSON.stringify([inputs, outputs]);
}

export const changedMeanwhile = () =>
  new UserError("an update of the stack changed it during the check: run the command again");

/**
 * Endpoints of the checked stacks that are in several states, those of other stacks too, or twice in one state. A `destroy` of one
 * resource may delete the endpoint of the other.
 */
export function sharedEndpoints(
  stacks: readonly StackScan[],
  others: readonly { name: string; entries: readonly StateEntry[] }[],
): SharedEndpoint[] {
  const inState = (stack: string, entries: readonly StateEntry[] = []) =>
    entries
      .filter(({ isOld, isPendingReplacement }) => !isOld || isPendingReplacement)
      .map(({ id, name, urn }) => ({ id, stack, name, urn }));
  const checked = stacks.flatMap(({ report, managed }) => inState(report.name, managed));
  const ids = new Set(checked.map(({ id }) => id));
  const elsewhere = others.flatMap(({ name, entries }) => inState(shownName(name), entries));
  const all = [...checked, ...elsewhere.filter(({ id }) => ids.has(id))];
  return [...groupBy(all, ({ id }) => id)].flatMap(([id, same]) => {
    if (same.length === 1) return [];
    const resources = same.map(({ stack, name, urn }) => ({ stack, name, urn }));
    return [{ id, resources }];
  });
}
