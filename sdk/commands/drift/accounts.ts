import { inputsFromLive } from "../../../provider/endpoint/state";
import type { KeySource } from "../../../provider/service/apiErrors";
import { createdAt } from "../../../provider/service/clock";
import type { Endpoint } from "../../../provider/service/contract";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { ConfigError, type ConfigReader } from "../../../provider/service/settings";
import { messageOf } from "../command";
import { type IgnoreRule, isIgnored } from "../projects";
import { cloudEndpoints, openAccount } from "../userProject";
import type { AccountReport, Unchecked } from "./report";
import type { SecretTexts } from "./secretTexts";
import { interrupted } from "./stack";

/* The accounts of the stacks, and their endpoints that no stack manages. Each account is listed once. */

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

  constructor(private readonly log: (message: string) => void) {}

  /**
   * The account that these settings name; undefined if a setting is missing and no endpoint uses the account.
   *
   * @param isUsed Whether an endpoint of the stack uses this account.
   */
  open(config: ConfigReader, isUsed: boolean, keySource: KeySource | undefined): ScannedAccount | undefined {
    const none = { api: undefined, cloud: undefined, unchecked: [] };
    try {
      const api = openAccount(config, this.log, keySource);
      const { baseUrl, apiKey } = api.http.settings;
      const key = JSON.stringify([baseUrl, apiKey]);
      const account = this.byKey.get(key) ?? { ...none, api };
      this.byKey.set(key, account);
      return account;
    } catch (error) {
      if (error instanceof ConfigError && !isUsed) return undefined;
      return { ...none, unchecked: [asUnchecked("the account", error)] };
    }
  }
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

/** What tells a managed endpoint of an account from an unmanaged one. */
export interface OwnedElsewhere {
  /** The ids that the checked stacks manage. */
  managed: Set<string>;
  /** The ids that known stacks manage. */
  known: ReadonlySet<string>;
  /** Whether all states could be read. If not, no endpoint counts as unmanaged. */
  isComplete: boolean;
  /** The rules of `--ignore`, and of `ignore` in the projects file. */
  ignored: readonly IgnoreRule[];
}

/** The report of an account: its endpoints that the checked stacks do not manage are known, ignored or unmanaged. */
export function accountReport(
  { api, cloud = [], unchecked }: ScannedAccount,
  stacks: string[],
  { managed, known, isComplete, ignored }: OwnedElsewhere,
  hidden: SecretTexts,
): AccountReport {
  const { baseUrl } = api?.http.settings ?? {};
  const unknown = asUnchecked(
    "which endpoints are unmanaged",
    "a stack's state could not be read, so its endpoints would count as unmanaged",
  );
  const report: AccountReport = {
    ...(baseUrl !== undefined && { service: baseUrl }),
    ...{ stacks, endpoints: cloud.length, unmanaged: [], ignored: [] },
    known: cloud.filter(({ id }) => known.has(id)).length,
    unchecked: isComplete ? unchecked : [...unchecked, unknown],
  };
  for (const live of isComplete ? cloud : []) {
    const { id, url } = live;
    if (managed.has(id) || known.has(id)) continue;
    const entry = ignored.find((each) => isIgnored(live, each));
    const shown = url !== undefined && { url: hidden.shown(url) };
    if (entry) report.ignored.push({ id, ...shown, reason: entry.reason });
    else report.unmanaged.push({ id, ...shown, ...factsOf(live, hidden) });
  }
  return report;
}

function factsOf(live: Endpoint, hidden: SecretTexts) {
  const { description } = live;
  const created = timeOf(live.createdAt);
  const texts = hidden.and(undefined, inputsFromLive(live));
  return {
    pool: live.poolingEnabled === true,
    ...(description && { description: texts.shown(description) }),
    ...(created !== undefined && { createdAt: created }),
    ...provenanceOf(live),
  };
}

/** When an endpoint was last changed, and who owns it. */
export function provenanceOf({ updatedAt, principal }: Endpoint): { updatedAt?: string; principal?: string } {
  const changed = timeOf(updatedAt);
  return {
    ...(changed !== undefined && { updatedAt: changed }),
    ...(principal && { principal: principal.id }),
  };
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
