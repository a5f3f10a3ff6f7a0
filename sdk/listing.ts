import * as pulumi from "@pulumi/pulumi";
import { EndpointsApi } from "../provider/api/endpoints";
import { CONNECTIONS, HttpClient } from "../provider/api/http";
import { type LiveEndpoint, skippedMessages } from "../provider/api/items";
import { readSettings } from "../provider/config";

/** One reading of the whole list. */
interface Listing {
  /** Once the first request is on its way, the list may lack what is created after it. */
  sent: boolean;
  endpoints: Promise<LiveEndpoint[]>;
}

/**
 * The service as a program reads it: the provider's client, and lists that calls share. A listing serves only calls
 * that it cannot be too old for; nothing of it is kept once it has ended.
 */
class Account {
  readonly api: EndpointsApi;
  private current: Listing | undefined;

  constructor(http: HttpClient) {
    this.api = new EndpointsApi(http);
  }

  /**
   * All endpoints, newest first.
   *
   * @param fresh Take part only in a listing that has not begun, since the call follows something that it must show.
   */
  list(fresh: boolean): Promise<LiveEndpoint[]> {
    if (this.current && !(fresh && this.current.sent)) return this.current.endpoints;
    const listing: Listing = { sent: false, endpoints: Promise.resolve([]) };
    listing.endpoints = this.read(listing).finally(() => {
      if (this.current === listing) this.current = undefined;
    });
    this.current = listing;
    return listing.endpoints;
  }

  /** Something has been created: a listing under way may lack it, and serves no later call. */
  outdate(): void {
    if (this.current?.sent) this.current = undefined;
  }

  private async read(listing: Listing): Promise<LiveEndpoint[]> {
    // Calls that start together have all come in when the event loop comes round.
    await new Promise((resolve) => setImmediate(resolve));
    listing.sent = true;
    const found = new Map<string, LiveEndpoint>();
    for await (const { endpoints, skipped } of this.api.pages()) {
      // An endpoint that moves while the pages are read can come twice; it stays where it came first.
      for (const endpoint of endpoints) if (!found.has(endpoint.id)) found.set(endpoint.id, endpoint);
      for (const message of skippedMessages(skipped)) void pulumi.log.warn(message);
    }
    return [...found.values()];
  }
}

/** One client a configuration; several configurations meet in a process only under the Automation API. */
const accounts = new Map<string, Account>();

/** The account that the running program's configuration names. Throws ConfigError where a setting is missing. */
export function thisAccount(): Account {
  const settings = readSettings((key) => pulumi.runtime.getConfig(key));
  const key = JSON.stringify(settings);
  const account =
    accounts.get(key) ??
    new Account(
      new HttpClient(settings, {
        say: (message) => void pulumi.log.info(message),
        connections: CONNECTIONS.program,
      }),
    );
  accounts.set(key, account);
  return account;
}

/** Tells every listing under way that this program has just created an endpoint. */
export function outdateListings(): void {
  for (const account of accounts.values()) account.outdate();
}
