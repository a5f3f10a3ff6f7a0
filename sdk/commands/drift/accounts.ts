import type { JsonObject } from "../../../provider/data/index";
import { cloudEndpoints, openAccount } from "../../../provider/dataSources/account";
import { inputsFromLive } from "../../../provider/endpoint/state";
import type { KeySource } from "../../../provider/service/apiErrors";
import { createdAt } from "../../../provider/service/clock";
import type { Endpoint } from "../../../provider/service/contract";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { ConfigError, type ConfigReader, settingText } from "../../../provider/service/settings";
import { urlOf } from "../../../provider/service/url";
import { messageOf } from "../command";
import { type IgnoreRule, isIgnored } from "../projects";
import { count, groupBy } from "../text";
import type { ManagedEndpoint } from "../userProject";
import { type AccountReport, membersOf, type Unchecked } from "./report";
import type { SecretTexts } from "./secretTexts";
import { interrupted } from "./stack";

/* The accounts of the stacks, and who has their endpoints. Each account is listed once. */

export interface ScannedAccount {
  /** Undefined if the settings do not name the account. */
  api: EndpointsApi | undefined;
  /** Undefined if the account could not be listed. */
  cloud: Endpoint[] | undefined;
  unchecked: Unchecked[];
}

/** The accounts that the scan has met. Settings with the same base URL and key name one account. */
export class ScannedAccounts {
  private readonly byKey = new Map<string, ScannedAccount>();
  /** The mistake in settings that no endpoint uses. */
  unused: ConfigError | undefined;

  constructor(private readonly log: (message: string) => void) {}

  /**
   * The account that these settings name; undefined if a setting is missing and no endpoint uses the account.
   *
   * @param isUsed Whether an endpoint of the stack uses this account.
   */
  open(config: ConfigReader, isUsed: boolean, keySource: KeySource | undefined): ScannedAccount | undefined {
    const none = { api: undefined, cloud: undefined, unchecked: [] };
    try {
      const api = openAccount(config, { info: this.log, warn: this.log }, keySource);
      const { baseUrl, apiKey } = api.http.settings;
      const key = JSON.stringify([baseUrl, apiKey]);
      const account = this.byKey.get(key) ?? { ...none, api };
      this.byKey.set(key, account);
      return account;
    } catch (error) {
      if (error instanceof ConfigError && !isUsed) {
        this.unused = error;
        return undefined;
      }
      return { ...none, unchecked: [asUnchecked("the account", error)] };
    }
  }
}

/**
 * The accounts of a state, with the endpoints that use each: that of the stack's configuration, unless all endpoints use others, and
 * those of its explicit providers.
 *
 * @param own The stack's configuration.
 */
export function accountsOf(
  endpoints: readonly ManagedEndpoint[],
  explicit: ReadonlyMap<string, JsonObject>,
  own: ConfigReader,
  met: ScannedAccounts,
): Map<ScannedAccount, ManagedEndpoint[]> {
  const byProvider = groupBy(endpoints, ({ provider }) => (explicit.has(provider) ? provider : ""));
  if (endpoints.length === 0) byProvider.set("", []);
  for (const provider of explicit.keys()) if (!byProvider.has(provider)) byProvider.set(provider, []);
  const accounts = new Map<ScannedAccount, ManagedEndpoint[]>();
  for (const [provider, some] of byProvider) {
    const inputs = explicit.get(provider) ?? {};
    const config: ConfigReader = (key) => settingText(inputs[key.replace(/^endpoints:/, "")] ?? own(key));
    const keySource = inputs["apiKey"] === undefined ? undefined : ("argument" as const);
    const account = met.open(config, some.length > 0, keySource);
    if (account) accounts.set(account, [...(accounts.get(account) ?? []), ...some]);
  }
  return accounts;
}

/** Lists an account. After an interruption no request is sent. */
export async function listAccount(
  account: ScannedAccount,
  { log, stopped }: { log(message: string): void; stopped: AbortSignal },
): Promise<void> {
  const { api, unchecked } = account;
  if (!api) return;
  // This also ends a wait for the account's rate limit, which may be long.
  stopped.addEventListener("abort", () => api.http.stop());
  try {
    if (stopped.aborted) throw interrupted();
    log(`listing the account at ${api.http.settings.baseUrl}`);
    account.cloud = await cloudEndpoints(api);
    for (const { id = "an endpoint", reason } of api.list.skipped)
      unchecked.push(asUnchecked(`${id} of the account`, `the list's item cannot be read: ${reason}`));
  } catch (error) {
    unchecked.push(asUnchecked("the account's endpoints", stopped.aborted ? interrupted() : error));
  }
}

/** Which stacks manage the endpoints of the accounts. */
export interface ManagingStacks {
  /** The ids in the states of the checked stacks. */
  checked: Set<string>;
  /** The ids in the states of other stacks. */
  elsewhere: ReadonlySet<string>;
  /** The creates that other stacks have begun. */
  creating: readonly { stack: string; url: string | undefined }[];
  /** Whether every state was read that may have an endpoint. If not, nothing counts as unmanaged. */
  isComplete: boolean;
  /** Whether a line or the exit code depends on who manages an endpoint. */
  isNeeded: boolean;
  /** The same for a member of a pool. */
  isNeededInPools: boolean;
  /** The rules of `--ignore`, and of `ignore` in the projects file. */
  ignored: readonly IgnoreRule[];
}

/** The report of an account: who manages the endpoints that the checked stacks do not manage. */
export function accountReport(
  { api, cloud = [], unchecked }: ScannedAccount,
  stacks: string[],
  { checked, elsewhere, creating, isComplete, isNeeded, isNeededInPools, ignored }: ManagingStacks,
  masks: SecretTexts,
): AccountReport {
  const { baseUrl } = api?.http.settings ?? {};
  const report: AccountReport = {
    ...(baseUrl !== undefined && { service: baseUrl }),
    stacks,
    endpoints: cloud.length,
    unmanaged: [],
    ignored: [],
    elsewhere: 0,
    unknown: 0,
    creating: [],
    unchecked: [...unchecked],
  };
  for (const live of cloud) {
    const { id, url, poolingEnabled: pool } = live;
    if (checked.has(id)) continue;
    const rule = ignored.find((each) => isIgnored(live, each));
    const shown = url !== undefined && { url: masks.shown(url) };
    const begun = creating.filter((one) => one.url === (urlOf(live) ?? id));
    // Outside of pools, the endpoint on the URL is what the other stack creates.
    if (elsewhere.has(id) || (begun.length > 0 && !pool)) report.elsewhere++;
    else if (rule) report.ignored.push({ id, ...shown, reason: rule.reason });
    else if (isComplete && begun.length === 0)
      report.unmanaged.push({ id, ...shown, ...factsOf(live, masks) });
    else {
      report.unknown++;
      report.creating = [...new Set([...report.creating, ...begun.map(({ stack }) => stack)])];
    }
  }
  const what = `who has ${count(report.unknown, "other endpoint")} of the account`;
  const reason = isComplete ? membersOf(report) : "not every state could be read";
  if (report.unknown > 0 && (isComplete ? isNeededInPools : isNeeded))
    report.unchecked.push(asUnchecked(what, reason));
  return report;
}

export function factsOf(live: Endpoint, masks: SecretTexts) {
  const { description } = live;
  const created = timeOf(live.createdAt);
  const texts = masks.and(undefined, inputsFromLive(live));
  return {
    pool: live.poolingEnabled === true,
    ...(description && { description: texts.shown(description) }),
    ...(created !== undefined && { createdAt: created }),
    ...changeTimeOf(live),
  };
}

/** When an endpoint was last changed. */
export function changeTimeOf({ updatedAt }: Endpoint): { updatedAt?: string } {
  const changed = timeOf(updatedAt);
  return changed === undefined ? {} : { updatedAt: changed };
}

/** A time of the service as the report has it; undefined if it is none, or is not within the report's four digits of a year. */
function timeOf(written: string | undefined): string | undefined {
  const time = createdAt({ createdAt: written });
  const text = time === undefined ? "" : new Date(time).toISOString();
  return /^\d{4}-/.test(text) ? text : undefined;
}

/** @param reason An error, or a text. */
export const asUnchecked = (what: string, reason: unknown): Unchecked => ({
  what,
  reason: messageOf(reason),
});
