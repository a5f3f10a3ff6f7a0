import { wrongType } from "../../../provider/endpoint/errors";
import { confirmGone } from "../../../provider/endpoint/gone";
import { readEndpoint } from "../../../provider/endpoint/readEndpoint";
import { hasSecrets } from "../../../provider/endpoint/secrets";
import { VERSION_KEY } from "../../../provider/endpoint/state";
import { isNotFound, UserError } from "../../../provider/service/apiErrors";
import type { Endpoint } from "../../../provider/service/contract";
import { type ConfigReader, settingText } from "../../../provider/service/settings";
import { VERSION } from "../../../provider/service/version";
import { normalizeUrl } from "../../traffic-policy/data/index";
import { UsageError } from "../command";
import { count, groupBy } from "../text";
import {
  explicitProviders,
  type ManagedEndpoint,
  managedEndpoints,
  type PendingCreate,
  pendingCreates,
  type StateEntry,
} from "../userProject";
import { asUnchecked, provenanceOf, type ScannedAccount, ScannedAccounts } from "./accounts";
import { driftOf, shownUrl } from "./compare";
import type { ScannedCreate } from "./orphans";
import type { DriftedEndpoint, SharedEndpoint, StackReport, Unchecked } from "./report";
import { SecretTexts } from "./secretTexts";
import { type DriftStack, interrupted } from "./stack";

/*
 * Compares stacks with the service in four steps: reads the states, lists the accounts, reads the known stacks, and compares, with
 * the functions of a refresh. An `up` may run at the same time, so the order matters. An endpoint in a state must be in the list
 * that follows. An endpoint in the list must be in the state of its known stack, which is read after the list.
 */

/** A stack that is only read, and not compared. Its endpoints count as managed. */
interface KnownStack {
  name: string;
  read(): Promise<readonly StateEntry[]>;
}

export interface ScanDependencies {
  /** Receives messages. */
  log(message: string): void;
  /** Aborted by an interruption. Then nothing new may begin. */
  stopped: AbortSignal;
  known: readonly KnownStack[];
}

export interface Scan {
  stacks: ScannedStack[];
  accounts: ScannedAccount[];
  known: ScannedKnownStack[];
  hidden: SecretTexts;
}

interface ScannedKnownStack {
  name: string;
  /** Undefined if its state could not be read. */
  entries: readonly StateEntry[] | undefined;
}

export interface ScannedStack {
  stack: DriftStack;
  report: StackReport;
  /** All endpoints that the stack manages; undefined if its state could not be read. */
  managed: readonly ManagedEndpoint[] | undefined;
  creates: readonly ScannedCreate[];
  /** The endpoints that the stack manages now, because an `up` may run beside the check. Reads the state at most once. */
  reread(): Promise<readonly ManagedEndpoint[]>;
}

/** How many stacks are read at once: each export of a state is a process, and may be large. */
const MAX_CONCURRENT = 4;

/** The results of the work on all items, a few at once. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return results;
}

/** Scans stacks. After an interruption nothing new begins, and the rest is reported as unchecked. */
export async function scan(stacks: readonly DriftStack[], deps: ScanDependencies): Promise<Scan> {
  const accounts = new ScannedAccounts(deps.log, deps.stopped);
  let done = 0;
  const read = await mapConcurrently(stacks, async (stack) => {
    const found = await readStack(stack, deps, accounts);
    // The log gets about ten lines.
    if (++done === stacks.length || done % Math.ceil(stacks.length / 10) === 0)
      deps.log(`${done} of ${count(stacks.length, "stack")} read`);
    return found;
  });
  await accounts.list();
  const known = await mapConcurrently(deps.known, (stack) => readKnown(stack, deps, accounts));
  // The evidence for "gone": the endpoints of all states, with the fingerprints of their accounts.
  const all = [...known.map(({ entries }) => entries), ...read.map(({ managed }) => managed)];
  const entries = all.flatMap((some) => some ?? []);
  const evidence = new Map(entries.map(({ id, account }) => [id, account]));
  const hidden = SecretTexts.of(
    read.flatMap(({ managed = [], creates }) => [...managed, ...creates.map(({ wanted }) => wanted)]),
  );
  const comparing = { ...deps, evidence, hidden };
  return {
    stacks: await mapConcurrently(read, (one) => compareStack(one, comparing)),
    ...{ accounts: accounts.all, known, hidden },
  };
}

/** Reads a known stack. If that fails, each account reports it as unchecked, because its unmanaged endpoints are unknown. */
async function readKnown(
  { name, read }: KnownStack,
  { stopped }: ScanDependencies,
  accounts: ScannedAccounts,
): Promise<ScannedKnownStack> {
  try {
    if (stopped.aborted) throw interrupted();
    return { name, entries: await read() };
  } catch (error) {
    for (const { unchecked } of accounts.all) unchecked.push(asUnchecked(`the known stack ${name}`, error));
    return { name, entries: undefined };
  }
}

/** A stack before its comparison with the service. */
interface ReadStack {
  stack: DriftStack;
  managed: ManagedEndpoint[] | undefined;
  creates: PendingCreate[];
  pendingOperations: number;
  /** The accounts of its endpoints, also of those to be created. */
  accounts: Map<ManagedEndpoint, ScannedAccount>;
  failures: Unchecked[];
  /** Why its state may not match the program. */
  reasons: string[];
}

async function readStack(
  stack: DriftStack,
  { stopped }: ScanDependencies,
  accounts: ScannedAccounts,
): Promise<ReadStack> {
  const read: ReadStack = {
    ...{ stack, managed: undefined, creates: [], pendingOperations: 0 },
    ...{ accounts: new Map(), failures: [], reasons: [] },
  };
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      if (stopped.aborted) throw interrupted();
      return await work();
    } catch (error) {
      if (error instanceof UsageError) throw error;
      read.failures.push(asUnchecked(what, stopped.aborted ? interrupted() : error));
      return undefined;
    }
  };
  const found = await attempt("the stack's state", async () => {
    const state = await stack.state();
    const operations = state.deployment.pending_operations ?? [];
    return {
      ...{ managed: managedEndpoints(state), creates: pendingCreates(state) },
      ...{ explicit: explicitProviders(state), operations },
    };
  });
  if (!found) return read;
  const { managed, creates, explicit, operations } = found;
  Object.assign(read, { managed, creates, pendingOperations: operations.length });
  const updates = await attempt("the stack's history", () => stack.updates());
  const { result = "succeeded" } = updates ?? {};
  if (result !== "succeeded") read.reasons.push(UNSUCCESSFUL[result] ?? `its last update ended as ${result}`);
  if (updates?.isRewritten) read.reasons.push(REWRITTEN);
  const pending = new Set(creates.map(({ wanted }) => wanted.urn));
  const others = operations.filter(({ resource }) => !pending.has(resource.urn)).length;
  if (creates.length > 0) read.reasons.push(`${count(creates.length, "create")} pending`);
  const what = creates.length > 0 ? "other operation" : "operation";
  if (others > 0) read.reasons.push(`${count(others, what)} of a killed run pending`);

  const own = await attempt("the stack's configuration", () => stack.config());
  if (!own) return read;
  const all = new Set([...managed, ...creates.map(({ wanted }) => wanted)]);
  const ofAccount = groupBy([...all], ({ provider }) => (explicit.has(provider) ? provider : ""));
  if (all.size === 0) ofAccount.set("", []);
  for (const provider of explicit.keys()) if (!ofAccount.has(provider)) ofAccount.set(provider, []);
  for (const [provider, endpoints] of ofAccount) {
    const inputs = explicit.get(provider) ?? {};
    const config: ConfigReader = (key) => settingText(inputs[key.replace(/^endpoints:/, "")] ?? own(key));
    const keySource = inputs["apiKey"] === undefined ? undefined : ("argument" as const);
    const account = accounts.open(config, stack.name, { isUsed: endpoints.length > 0, keySource });
    if (account) for (const endpoint of endpoints) read.accounts.set(endpoint, account);
  }
  return read;
}

/** Why the state may not match the program, by the result of the last update. */
const UNSUCCESSFUL: Record<string, string> = {
  failed: "its last update failed",
  "in-progress": "its last update is in progress, or was killed",
};

/** No comparison finds edits in the state. */
const REWRITTEN =
  "a refresh since the last `up` may have written edits into the state; `pulumi preview` shows what `up` puts back";

/** Compares a stack. The report has each endpoint that was not compared, its account or the stack's configuration as unchecked. */
async function compareStack(
  { stack, managed, creates, pendingOperations, accounts, failures, reasons }: ReadStack,
  {
    stopped,
    evidence,
    hidden,
  }: ScanDependencies & { evidence: ReadonlyMap<string, unknown>; hidden: SecretTexts },
): Promise<ScannedStack> {
  let second: ReturnType<DriftStack["state"]> | undefined;
  const stateAgain = () => {
    second ??= stopped.aborted ? Promise.reject(interrupted()) : stack.state();
    return second;
  };
  const reread = () => stateAgain().then(managedEndpoints);
  const current = managed?.filter(({ isOld }) => !isOld) ?? [];
  const drifted: DriftedEndpoint[] = [];
  const missed: Unchecked[] = [];
  let compared = 0;
  const scannedCreates: ScannedCreate[] = [];
  const attempt = async ({ name, id }: Pick<ManagedEndpoint, "name" | "id">, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      missed.push(asUnchecked(`${name} (${id})`, stopped.aborted ? interrupted() : error));
    }
  };
  const check = (endpoint: ManagedEndpoint) =>
    attempt(endpoint, async () => {
      const account = accounts.get(endpoint);
      if (!account?.cloud) return;
      assertNotLater(endpoint);
      const live = await liveOf(endpoint, account, evidence);
      const drift = driftOf(endpoint, live, hidden, account.api?.http.settings.apiKey);
      if (drift && !isSame(endpoint, await reread())) throw changedMeanwhile();
      compared++;
      if (drift) drifted.push({ ...drift, ...(live && provenanceOf(live)) });
    });
  let previewed: ReturnType<DriftStack["preview"]> | undefined;
  /**
   * Whether a replacement keeps the URL; undefined if that is unknown. After a failed run, the state has only the old endpoint, so
   * a preview shows the new URL.
   */
  const keepsUrl = async ({ wanted, replaced }: Required<PendingCreate>): Promise<boolean | undefined> => {
    let { url } = wanted.inputs;
    if (wanted === replaced) {
      previewed ??= stack.preview().catch(() => ({ ok: false, steps: [], diagnostics: [] }));
      const { steps } = await previewed;
      url = steps.find(({ urn, op }) => urn === wanted.urn && op.startsWith("create"))?.outputs?.["url"];
    }
    return typeof url === "string"
      ? normalizeUrl(url) === normalizeUrl(String(replaced?.inputs["url"]))
      : undefined;
  };
  const checkCreate = async ({ wanted, replaced }: PendingCreate) => {
    const { name, urn, type } = wanted;
    const replaces = replaced && { id: replaced.id };
    const report = { name, urn, type, ...shownUrl(wanted, hidden), ...(replaces && { replaces }) };
    const create: ScannedCreate = { report, wanted, account: undefined };
    scannedCreates.push(create);
    await attempt({ name, id: replaced?.id ?? "its create" }, async () => {
      const account = accounts.get(wanted);
      if (!account?.cloud) return;
      const exists = replaced && (await liveOf(replaced, account, evidence)) !== undefined;
      const later = pendingCreates(await stateAgain());
      if (!later.some((one) => one.wanted.urn === urn && one.replaced?.id === replaced?.id))
        throw changedMeanwhile();
      create.account = account;
      if (!replaced) return;
      const sameUrl = exists ? await keepsUrl({ wanted, replaced }) : undefined;
      create.report = {
        ...report,
        replaces: { id: replaced.id, exists, ...(sameUrl !== undefined && { sameUrl }) },
      };
    });
  };
  await Promise.all([...current.map(check), ...creates.map(checkCreate)]);
  const report: StackReport = {
    name: stack.name,
    project: stack.project,
    endpoints: current.length,
    compared,
    ...(reasons.length > 0 && { undeployed: reasons.join(", ") }),
    drifted: drifted.sort(byName),
    pendingOperations,
    pendingCreates: [],
    unchecked: [...failures, ...missed],
  };
  const byItsName = (a: ScannedCreate, b: ScannedCreate) => byName(a.wanted, b.wanted);
  return { stack, report, managed, creates: scannedCreates.sort(byItsName), reread };
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** The live endpoint, as a refresh reads it; undefined if it is gone. */
async function liveOf(
  { id, outputs: stored }: ManagedEndpoint,
  account: ScannedAccount,
  accounts: ReadonlyMap<string, unknown>,
): Promise<Endpoint | undefined> {
  if (!account.api) return undefined;
  const { apiKey } = account.api.http.settings;
  const api = account.api.redacting({ hasSecrets: () => hasSecrets(stored, apiKey) });
  const live = await readEndpoint(api, id, stored).catch((notFound: unknown) => {
    if (!isNotFound(notFound)) throw notFound;
    const isOfAccount = (other: string, written: unknown) =>
      accounts.has(other) && accounts.get(other) === written;
    return confirmGone(api, { id, stored, notFound, isOnlyRead: false, isOfAccount });
  });
  if (live?.type !== undefined && live.type !== "cloud") throw wrongType(id, live.type);
  return live;
}

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

const changedMeanwhile = () =>
  new UserError("an update of the stack changed it during the check: run the command again");

/**
 * Endpoints of the checked stacks that are in several states, known ones too, or twice in one state. A `destroy` of one resource may
 * delete the endpoint of the other.
 */
export function sharedEndpoints({ stacks, known }: Pick<Scan, "stacks" | "known">): SharedEndpoint[] {
  const inState = (stack: string, entries: readonly StateEntry[] = []) =>
    entries
      .filter(({ isOld, isPending }) => !isOld || isPending)
      .map(({ id, name, urn }) => ({ id, stack, name, urn }));
  const checked = stacks.flatMap(({ stack, managed }) => inState(stack.name, managed));
  const ids = new Set(checked.map(({ id }) => id));
  const others = known.flatMap(({ name, entries }) => inState(name, entries)).filter(({ id }) => ids.has(id));
  return [...groupBy([...checked, ...others], ({ id }) => id)].flatMap(([id, same]) => {
    if (same.length === 1) return [];
    const resources = same.map(({ stack, name, urn }) => ({ stack, name, urn }));
    return [{ id, resources }];
  });
}
