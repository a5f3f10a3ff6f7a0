import type { EndpointsApi } from "./api/endpoints";
import { type LiveEndpoint, skippedMessages } from "./api/items";

/** One reading of the whole list. */
interface Reading {
  /** Once the first request is on its way, the list may lack what is created after it. */
  sent: boolean;
  endpoints: Promise<LiveEndpoint[]>;
}

/**
 * The list of an account, as data sources read it: calls share a reading. One serves only calls that it cannot be too
 * old for; nothing of it is kept once it has ended.
 */
export class Listing {
  private current: Reading | undefined;

  /** @param warn Tells the user of an item that cannot be read, and is left out. */
  constructor(
    readonly api: EndpointsApi,
    private readonly warn: (message: string) => void,
  ) {}

  /**
   * All endpoints, newest first.
   *
   * @param fresh Take part only in a reading that has not begun, since the call follows something that it must show.
   */
  all(fresh: boolean): Promise<LiveEndpoint[]> {
    if (this.current && !(fresh && this.current.sent)) return this.current.endpoints;
    const reading: Reading = { sent: false, endpoints: Promise.resolve([]) };
    reading.endpoints = this.read(reading).finally(() => {
      if (this.current === reading) this.current = undefined;
    });
    this.current = reading;
    return reading.endpoints;
  }

  /** Something has been created: a reading under way may lack it, and serves no later call. */
  outdate(): void {
    if (this.current?.sent) this.current = undefined;
  }

  private async read(reading: Reading): Promise<LiveEndpoint[]> {
    // Calls that start together have all come in when the event loop comes round.
    await new Promise((resolve) => setImmediate(resolve));
    reading.sent = true;
    const found = new Map<string, LiveEndpoint>();
    for await (const { endpoints, skipped } of this.api.pages()) {
      // An endpoint that moves while the pages are read can come twice; it stays where it came first.
      for (const endpoint of endpoints) if (!found.has(endpoint.id)) found.set(endpoint.id, endpoint);
      for (const message of skippedMessages(skipped)) this.warn(message);
    }
    return [...found.values()];
  }
}
