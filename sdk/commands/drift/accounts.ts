import type { LiveEndpoint } from "../../../provider/api/items";
import { ownerText } from "../../../provider/api/mark";
import { ConfigError, type ConfigReader } from "../../../provider/config";
import { Listing } from "../../../provider/listing";
import { cloudEndpoints, openAccount } from "../account";
import { type Around, interrupted } from "./interruption";
import type { AccountReport, Unseen } from "./report";
import { unseen } from "./unseen";

/** Where the settings of an account are, and the stack that has them. */
export interface AccountSource {
  stack: string;
  config: ConfigReader;
  /** Whether an endpoint of the stack has this account. Otherwise its settings may be missing. */
  isUsed: boolean;
}

/** An account as it was listed. */
export interface Account {
  /** The base URL; undefined where the settings do not tell it. */
  service: string | undefined;
  stacks: string[];
  cloud: LiveEndpoint[];
  unseen: Unseen[];
}

/**
 * Lists the accounts that these settings name, each once, however many stacks share it.
 */
export async function listAccounts(sources: AccountSource[], { tell, stopped }: Around): Promise<Account[]> {
  const accounts = new Map<string, { account: Account; listing: Listing }>();
  const failed: Account[] = [];
  for (const { stack, config, isUsed } of sources) {
    try {
      const { api } = openAccount(config, tell);
      const { baseUrl, apiKey } = api.http.settings;
      const key = JSON.stringify([baseUrl, apiKey]);
      const known = accounts.get(key);
      if (known) {
        known.account.stacks.push(stack);
        continue;
      }
      const account: Account = { service: baseUrl, stacks: [stack], cloud: [], unseen: [] };
      const listing = new Listing(api, (message) =>
        account.unseen.push({ what: "an endpoint of the account", reason: message, authentication: false }),
      );
      accounts.set(key, { account, listing });
    } catch (error) {
      if (error instanceof ConfigError && !isUsed) continue;
      failed.push({ service: undefined, stacks: [stack], cloud: [], unseen: [unseen("the account", error)] });
    }
  }
  for (const { account, listing } of accounts.values()) {
    // Also what waits for the account's budget ends then, which may be long.
    const stop = () => listing.api.http.stop();
    stopped.addEventListener("abort", stop);
    try {
      if (stopped.aborted) throw interrupted();
      tell(`listing the account at ${account.service}`);
      account.cloud = (await cloudEndpoints(listing)).cloud;
    } catch (error) {
      account.unseen.push(unseen("the account's endpoints", stopped.aborted ? interrupted() : error));
    } finally {
      stopped.removeEventListener("abort", stop);
    }
  }
  return [...[...accounts.values()].map(({ account }) => account), ...failed];
}

/** What none of the stacks manages. Nothing is said of it where it is not known what a stack manages. */
export function accountReport(account: Account, managed: ReadonlySet<string> | undefined): AccountReport {
  const { service, stacks, cloud } = account;
  const others = managed ? cloud.filter(({ id }) => !managed.has(id)) : [];
  const blind: Unseen = {
    what: "which endpoints are unmanaged",
    reason: "a stack's state could not be read, so that its endpoints would count as unmanaged",
    authentication: false,
  };
  return {
    ...(service !== undefined && { service }),
    stacks: [...new Set(stacks)],
    endpoints: cloud.length,
    unmanaged: others.map(unmanaged),
    unseen: managed ? account.unseen : [...account.unseen, blind],
  };
}

function unmanaged({
  id,
  url,
  description,
  createdAt,
  createdFor,
}: LiveEndpoint): AccountReport["unmanaged"][number] {
  const created = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  return {
    id,
    ...(url !== undefined && { url }),
    ...(description && { description }),
    ...(!Number.isNaN(created) && { createdAt: new Date(created).toISOString() }),
    ...(createdFor && { createdFor: ownerText(createdFor) }),
  };
}
