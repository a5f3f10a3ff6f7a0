import { ConfigError, type ConfigReader } from "../../../provider/api/config";
import type { LiveEndpoint } from "../../../provider/api/contract";
import type { EndpointsApi } from "../../../provider/api/endpoints";
import { ownerText, partsOf } from "../../../provider/api/mark";
import { count, grouped, isAuthenticationError, messageOf } from "../command";
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
import type { AccountReport, DriftedEndpoint, SharedEndpoint, StackReport, Unchecked } from "./report";
import { type DriftStack, errorsOf, interrupted, type PulumiRun } from "./stack";

/* Compares stacks with the service, and lists the accounts that they use. */

export interface SurveyDependencies {
  /** Receives progress messages. */
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

/** Surveys one stack after the other. After an interruption nothing new begins, and the rest is reported as unchecked. */
export async function survey(
  stacks: DriftStack[],
  deps: SurveyDependencies,
  { expected, sources }: Earlier = { expected: new Map(), sources: [] },
): Promise<Survey> {
  const observed: ObservedStack[] = [];
  for (const stack of stacks) observed.push(await observe(stack, deps));
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

async function observe(stack: DriftStack, { log, stopped }: SurveyDependencies): Promise<ObservedStack> {
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
      const drift = driftOf(endpoint, step, live.get(id), expected.get(urn));
      if (drift) drifted.push(drift);
    } else if (run)
      missed.push(asUnchecked(`${name} (${id})`, errorsOf(run, urn) ?? "Pulumi did not read it"));
  }
  // The failure may be about another resource.
  if (run && !run.ok && missed.length === 0)
    missed.push(asUnchecked("the whole stack", errorsOf(run) ?? "the refresh failed"));
  const report: StackReport = {
    name: stack.name,
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
    const account: Account = { service: undefined, stacks: [stack], cloud: [], unchecked: [] };
    const failed = (what: string, reason: unknown) => account.unchecked.push(asUnchecked(what, reason));
    try {
      const api = openAccount(config, log, (message) => failed("an endpoint of the account", message));
      const { baseUrl, apiKey } = api.http.settings;
      const key = JSON.stringify([baseUrl, apiKey]);
      const known = accounts.get(key);
      if (known) known.stacks.push(stack);
      else accounts.set(key, Object.assign(account, { service: baseUrl, api }));
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

/**
 * @param managed The ids that the stacks manage; undefined if a state could not be read. Then no endpoint counts as unmanaged.
 * @param project The project of the stacks.
 */
export function accountReport(
  account: Account,
  managed: ReadonlySet<string> | undefined,
  project: string | undefined,
): AccountReport {
  const { service, stacks, cloud } = account;
  const unmanaged = managed ? cloud.filter(({ id }) => !managed.has(id)) : [];
  const unknown = asUnchecked(
    "which endpoints are unmanaged",
    "a stack's state could not be read, so its endpoints would count as unmanaged",
  );
  return {
    ...(service !== undefined && { service }),
    stacks: [...new Set(stacks)],
    endpoints: cloud.length,
    unmanaged: unmanaged.map(({ id, url, description, createdAt, createdFor }) => {
      const created = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
      return {
        id,
        ...(url !== undefined && { url }),
        ...(description && { description }),
        ...(!Number.isNaN(created) && { createdAt: new Date(created).toISOString() }),
        ...(createdFor && { createdFor: ownerText(createdFor) }),
        ...(createdFor && partsOf(createdFor).project === project && { orphan: true as const }),
      };
    }),
    unchecked: managed ? account.unchecked : [...account.unchecked, unknown],
  };
}

/** Endpoints that are in several states, or twice in one state. A `destroy` of one resource deletes the endpoint of the other. */
export function sharedEndpoints(stacks: readonly SurveyedStack[]): SharedEndpoint[] {
  const all = stacks.flatMap(({ stack, managed = [] }) =>
    managed.filter(({ isOld }) => !isOld).map(({ id, name, urn }) => ({ id, stack: stack.name, name, urn })),
  );
  return [...grouped(all, ({ id }) => id)]
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
