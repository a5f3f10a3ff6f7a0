import { API_VERSION } from "../../../provider/api/connections";
import type { LiveEndpoint } from "../../../provider/api/contract";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import { isProven, ownerText, partsOf } from "../../../provider/api/mark";
import { ConfigError, type ConfigReader } from "../../../provider/api/settings";
import { count, grouped, isAuthenticationError, messageOf, shellWord } from "../command";
import { type Ignored, isIgnored } from "../projects";
import {
  cloudEndpoints,
  explicitProviders,
  type Managed,
  managedEndpoints,
  openAccount,
  type State,
  usesOwnAccount,
} from "../userProject";
import { driftOf } from "./compare";
import type {
  AccountReport,
  DriftedEndpoint,
  SharedEndpoint,
  StackReport,
  Unchecked,
  UnmanagedEndpoint,
} from "./report";
import { type DriftStack, errorsOf, interrupted, type PulumiRun } from "./stack";

/* Compares stacks with the service, and lists the accounts that they use. */

export interface SurveyDependencies {
  /** Receives messages. */
  log(message: string): void;
  /** Receives the number of the stacks that are done. Without it, `log` receives each step. */
  progress?: ((done: number, of: number) => void) | undefined;
  /** How many stacks are compared at once. */
  parallel: number;
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
  sources: AccountSource[];
  /** The URNs of the endpoints that were compared. */
  checked: ReadonlySet<string>;
}

/** The settings of an account, and the stack that has them. */
export interface AccountSource {
  stack: string;
  config: ConfigReader;
  /** Whether an endpoint of the stack uses this account. Otherwise its settings may be missing. */
  isUsed: boolean;
}

export interface Account {
  /** The base URL; undefined if the settings do not give it. */
  service: string | undefined;
  /** The name of the header with the version of the API. */
  versionHeader: string;
  stacks: string[];
  cloud: LiveEndpoint[];
  unchecked: Unchecked[];
}

/** The results of an earlier survey. */
interface Earlier {
  /** The earlier states of endpoints, by URN. */
  expected: ReadonlyMap<string, Managed>;
  /** The accounts of stacks that are not surveyed again. */
  sources: AccountSource[];
}

/** Surveys some stacks at once. After an interruption nothing new begins, and the rest is reported as unchecked. */
export async function survey(
  stacks: DriftStack[],
  deps: SurveyDependencies,
  { expected, sources }: Earlier = { expected: new Map(), sources: [] },
): Promise<Survey> {
  const observed: ObservedStack[] = [];
  let done = 0;
  const queue = stacks.entries();
  const worker = async () => {
    for (const [index, stack] of queue) {
      observed[index] = await observe(stack, deps);
      deps.progress?.(++done, stacks.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(deps.parallel, stacks.length) }, worker));
  const accounts = await listAccounts([...observed.flatMap(({ sources }) => sources), ...sources], deps);
  const live = new Map(accounts.flatMap(({ cloud }) => cloud).map((endpoint) => [endpoint.id, endpoint]));
  return { stacks: observed.map((stack) => compared(stack, live, expected)), accounts };
}

/** A stack before its comparison with the service. */
interface ObservedStack {
  stack: DriftStack;
  managed?: Managed[];
  /** The preview of a refresh; missing if it failed, or if there is nothing to compare. */
  run?: PulumiRun | undefined;
  sources: AccountSource[];
  failures: Unchecked[];
  /** Why its state may not match the program. */
  reasons: string[];
}

async function observe(stack: DriftStack, deps: SurveyDependencies): Promise<ObservedStack> {
  const { stopped, progress } = deps;
  const log = progress ? () => {} : deps.log;
  const observed: ObservedStack = { stack, sources: [], failures: [], reasons: [] };
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      if (stopped.aborted) throw interrupted();
      return await work();
    } catch (error) {
      observed.failures.push(asUnchecked(what, error));
      return undefined;
    }
  };
  log(`${stack.name}: reading the state`);
  const state = await attempt("the stack's state", () => stack.state());
  if (!state) return observed;
  const pending = state.deployment.pending_operations?.length ?? 0;
  if (await attempt("the stack's history", () => stack.lastUpdateFailed()))
    observed.reasons.push("its last update failed");
  if (pending > 0) observed.reasons.push(`${count(pending, "operation")} of a killed run pending`);

  observed.managed = managedEndpoints(state);
  const total = observed.managed.length;
  if (total > 0) {
    log(`${stack.name}: comparing ${count(total, "cloud endpoint")} with the service`);
    observed.run = await attempt("the stack's endpoints", () => stack.refreshPreview());
  }
  const config = await attempt("the stack's configuration", () => stack.config());
  if (config) observed.sources = accountSourcesOf(state, { stack: stack.name, isUsed: total > 0, config });
  return observed;
}

/** The accounts of a stack: one of its configuration, and one of each explicit provider in its state. */
function accountSourcesOf(state: State, own: AccountSource): AccountSource[] {
  const explicit = explicitProviders(state).map((inputs): ConfigReader => {
    return (key) => {
      const value = inputs[key.replace(/^endpoints:/, "")];
      return value === undefined || value === null ? own.config(key) : String(value);
    };
  });
  const all = [...(usesOwnAccount(state) ? [own.config] : []), ...explicit];
  return all.map((config) => ({ ...own, config }));
}

/** Every managed endpoint is compared, or is reported as unchecked. */
function compared(
  { stack, managed, run, sources, failures, reasons }: ObservedStack,
  live: ReadonlyMap<string, LiveEndpoint>,
  expected: ReadonlyMap<string, Managed>,
): SurveyedStack {
  const current = managed?.filter(({ isOld }) => !isOld) ?? [];
  const drifted: DriftedEndpoint[] = [];
  const missed: Unchecked[] = [];
  const checked = new Set<string>();
  for (const endpoint of run ? current : []) {
    const { urn, id, name } = endpoint;
    const step = run?.steps.find((one) => one.urn === urn && (one.id === undefined || one.id === id));
    if (step) {
      checked.add(urn);
      const current = live.get(id);
      const drift = driftOf(endpoint, step, current, expected.get(urn));
      if (drift) drifted.push({ ...drift, ...(current && seenOf(current)) });
    } else if (run)
      missed.push(asUnchecked(`${name} (${id})`, errorsOf(run, urn) ?? "Pulumi did not read it"));
  }
  // The failure may be about another resource.
  if (run && !run.ok && missed.length === 0)
    missed.push(asUnchecked("the whole stack", errorsOf(run) ?? "the refresh failed"));
  const report: StackReport = {
    name: stack.name,
    project: stack.project,
    endpoints: current.length,
    compared: checked.size,
    ...(reasons.length > 0 && { undeployed: reasons.join(", ") }),
    drifted: drifted.sort((a, b) => (a.name < b.name ? -1 : 1)),
    unchecked: [...failures, ...missed],
  };
  return { stack, report, managed, sources, checked };
}

/** Lists each account once, even if several stacks share it. */
async function listAccounts(
  sources: AccountSource[],
  { log, stopped }: SurveyDependencies,
): Promise<Account[]> {
  const accounts = new Map<string, Account & { api?: EndpointsApi }>();
  for (const { stack, config, isUsed } of sources) {
    const account: Account = {
      service: undefined,
      versionHeader: "",
      ...{ stacks: [stack], cloud: [], unchecked: [] },
    };
    const failed = (what: string, reason: unknown) => account.unchecked.push(asUnchecked(what, reason));
    try {
      const api = openAccount(config, log, (message) => failed("an endpoint of the account", message));
      const { baseUrl, apiKey, versionHeader } = api.http.settings;
      const key = JSON.stringify([baseUrl, apiKey]);
      const known = accounts.get(key);
      if (known) known.stacks.push(stack);
      else accounts.set(key, Object.assign(account, { service: baseUrl, versionHeader, api }));
    } catch (error) {
      if (error instanceof ConfigError && !isUsed) continue;
      failed("the account", error);
      accounts.set(`failed ${accounts.size}`, account);
    }
  }
  for (const account of accounts.values()) {
    const { api, service, unchecked: failures } = account;
    if (!api) continue;
    // This also ends a wait for the account's rate limit, which may be long.
    const stop = () => api.http.stop();
    stopped.addEventListener("abort", stop);
    try {
      if (stopped.aborted) throw interrupted();
      log(`listing the account at ${service}`);
      account.cloud = await cloudEndpoints(api);
    } catch (error) {
      const reason = stopped.aborted ? interrupted() : error;
      failures.push(asUnchecked("the account's endpoints", reason));
    } finally {
      stopped.removeEventListener("abort", stop);
    }
  }
  return [...accounts.values()];
}

/** What is known of the endpoints that the given stacks do not manage. */
export interface Elsewhere {
  /** The ids that the given stacks manage; undefined if a state could not be read. Then no endpoint counts as unmanaged. */
  managed: ReadonlySet<string> | undefined;
  /** The ids that known stacks manage. */
  known: ReadonlySet<string>;
  /** The projects of the given stacks. */
  projects: ReadonlySet<string>;
  ignored: readonly IgnoreRule[];
}

/** An entry of `--ignore`, and whether it has matched an endpoint. */
export interface IgnoreRule {
  entry: Ignored;
  isUsed: boolean;
}

/** Sorts the endpoints of an account that the given stacks do not manage. */
export function accountReport(account: Account, elsewhere: Elsewhere): AccountReport {
  const { service, stacks, cloud } = account;
  const { managed, known, projects, ignored } = elsewhere;
  const unknown = asUnchecked(
    "which endpoints are unmanaged",
    "a stack's state could not be read, so its endpoints would count as unmanaged",
  );
  const report: AccountReport = {
    ...(service !== undefined && { service }),
    stacks: [...new Set(stacks)],
    endpoints: cloud.length,
    unmanaged: [],
    others: [],
    ignored: [],
    known: cloud.filter(({ id }) => known.has(id)).length,
    unchecked: managed ? account.unchecked : [...account.unchecked, unknown],
  };
  for (const live of managed ? cloud : []) {
    const { id, url } = live;
    if (managed?.has(id) || known.has(id)) continue;
    const rules = ignored.filter(({ entry }) => isIgnored(live, entry));
    for (const rule of rules) rule.isUsed = true;
    const owner = isProven(live) ? live.createdFor : undefined;
    const [first] = rules;
    if (first) report.ignored.push({ id, ...(url !== undefined && { url }), reason: first.entry.reason });
    else if (owner && !projects.has(partsOf(owner).project)) report.others.push(unmanagedEndpoint(live));
    else report.unmanaged.push({ ...unmanagedEndpoint(live), deleteCommand: deleteCommand(account, id) });
  }
  return report;
}

/** The key comes from the environment, so that no report has it. */
function deleteCommand({ service, versionHeader }: Account, id: string): string {
  const version = shellWord(`${versionHeader}: ${API_VERSION}`);
  const key = '-H "Authorization: Bearer $ENDPOINTS_API_KEY"';
  return `curl --fail-with-body -X DELETE ${key} -H ${version} ${shellWord(`${service}/endpoints/${id}`)}`;
}

function unmanagedEndpoint(live: LiveEndpoint): UnmanagedEndpoint {
  const { id, url, description, createdFor } = live;
  const createdAt = timeOf(live.createdAt);
  return {
    id,
    ...(url !== undefined && { url }),
    ...(description && { description }),
    ...(createdAt !== undefined && { createdAt }),
    ...seenOf(live),
    ...(createdFor && { createdFor: ownerText(createdFor) }),
  };
}

/** When an endpoint was last changed, and who owns it. */
function seenOf({ updatedAt, principal }: LiveEndpoint): { updatedAt?: string; principal?: string } {
  const changed = timeOf(updatedAt);
  return {
    ...(changed !== undefined && { updatedAt: changed }),
    ...(principal && { principal: principal.id }),
  };
}

function timeOf(written: string | undefined): string | undefined {
  const time = Date.parse(written ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Endpoints that are in several states, or twice in one state. A `destroy` of one resource deletes the endpoint of the other. */
export function sharedEndpoints(stacks: readonly SurveyedStack[]): SharedEndpoint[] {
  const all = stacks.flatMap(({ stack, managed = [] }) =>
    managed.filter(({ isOld }) => !isOld).map(({ id, name, urn }) => ({ id, stack: stack.name, name, urn })),
  );
  // A stack that is given under two names has each entry once.
  const entries = [...new Map(all.map((entry) => [`${entry.id} ${entry.urn}`, entry])).values()];
  return [...grouped(entries, ({ id }) => id)]
    .filter(([, same]) => same.length > 1)
    .map(([id, same]) => ({ id, resources: same.map(({ stack, name, urn }) => ({ stack, name, urn })) }));
}

/** A refused key, in the only form that Pulumi's message keeps of the provider's error. */
const REFUSED = /: status 40[13]\b/;

/** @param reason An error, or the message of a run. */
export function asUnchecked(what: string, reason: unknown): Unchecked {
  const text = messageOf(reason);
  return { what, reason: text, authentication: isAuthenticationError(reason) || REFUSED.test(text) };
}
