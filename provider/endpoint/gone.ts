import { createHash } from "node:crypto";
import { type ApiError, EndpointsError, isOfService } from "../api/apiErrors";
import { createdAt } from "../api/clock";
import type { LiveEndpoint } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { isMapping } from "../api/json";
import type { Reading } from "../api/list";
import type { Settings } from "../api/settings";
import { goneUnproven, otherAccount, otherAccountToo, stillListed } from "./errors";
import { ACCOUNT_KEY } from "./state";

/*
 * A 404 proves little: the base URL may lack a path prefix, a gateway may have answered in place of the service, or the key
 * may belong to another account. Pulumi drops every resource that a provider reports as gone, without a question. So an
 * endpoint counts as gone only with a second piece of evidence.
 */

/** How long a list may lag behind a write, in milliseconds. */
export const LIST_LAG = 5_000;

/** The waits before a list that still shows the endpoint is read again, in milliseconds. */
const LOOK_AGAIN_AFTER = [1_000, LIST_LAG - 1_000];

/** A short hash of base URL and key, which reveals neither. */
export function accountFingerprint({ baseUrl, apiKey }: Pick<Settings, "baseUrl" | "apiKey">): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}

/** Decides whether an endpoint is gone, for all resources of one process. */
export class GoneCheck {
  /** The fingerprints in the states of endpoints that the service knows: other names of the current account. */
  private readonly proven = new Set<unknown>();
  /** The endpoint whose message has explained that the account may be another one. */
  private explainedFor: string | undefined;

  /** @param known The ids in the states of this run, with the fingerprints there. */
  constructor(private readonly known: ReadonlyMap<string, unknown>) {}

  /** Notes that the service knows an endpoint of this run's states. So this is the account that the state was written with. */
  answered(stored: JsonObject): void {
    this.proven.add(stored[ACCOUNT_KEY]);
  }

  /**
   * Returns if the endpoint is gone.
   *
   * @param notFound The 404 for the endpoint.
   * @throws UserError if that is not proven. The message has the findings and the next step.
   */
  async confirm(
    { api, settings }: { api: EndpointsApi; settings: Settings },
    notFound: ApiError,
    id: string,
    stored: JsonObject,
  ): Promise<void> {
    try {
      const reading = await this.readingWithout(api, notFound, id, stored);
      await this.assertAccount(settings, reading, id, stored);
    } catch (error) {
      throw error instanceof EndpointsError ? goneUnproven(id, notFound, error) : error;
    }
  }

  /** A reading of the list without the endpoint, which would show the endpoint if it existed. */
  private async readingWithout(
    api: EndpointsApi,
    notFound: ApiError,
    id: string,
    stored: JsonObject,
  ): Promise<Reading> {
    const { clock } = api.http;
    const born = createdAt(stored);
    let reading = api.list.whole(0);
    // A reading may not show a new endpoint yet, and even the service may not know it.
    if (mayBeNew(api, reading, born)) {
      await clock.sleep(LIST_LAG);
      reading = api.list.whole(clock.now());
    }
    // After the service's own 404, one page of the list is enough: it shows that the base URL is right.
    // A gateway's 404 proves nothing.
    await (isOfService(notFound) ? reading.until(() => reading.pages > 0) : reading.toEnd());
    for (const wait of LOOK_AGAIN_AFTER) {
      if (!isListed(reading, id)) return reading;
      await clock.sleep(wait);
      reading = api.list.whole(clock.now());
      await reading.toEnd();
    }
    if (isListed(reading, id)) throw stillListed(id, notFound);
    return reading;
  }

  /** @throws UserError unless this is the account with the stack's endpoints. */
  private async assertAccount(
    settings: Settings,
    reading: Reading,
    id: string,
    stored: JsonObject,
  ): Promise<void> {
    const account = stored[ACCOUNT_KEY];
    if (account === accountFingerprint(settings) || settings.acceptAccount) return;
    const principal = principalOf(stored);
    // An endpoint that a run has created with another account's key proves nothing about this one.
    const isOurs = (live: LiveEndpoint) =>
      (live.id !== id && this.known.has(live.id) && this.known.get(live.id) === account) ||
      (principal !== undefined && principalOf(live) === principal);
    const isProven = () => this.proven.has(account) || [...reading.endpoints.values()].some(isOurs);
    await reading.until(isProven);
    if (isProven()) return;
    this.explainedFor ??= id;
    throw this.explainedFor === id
      ? otherAccount(id, reading.endpoints.size, settings.baseUrl)
      : otherAccountToo(id, this.explainedFor);
  }
}

const isListed = ({ endpoints, skipped }: Reading, id: string) =>
  endpoints.has(id) || skipped.some((item) => item.id === id);

function principalOf({ principal }: JsonObject): string | undefined {
  return isMapping(principal) && typeof principal["id"] === "string" ? principal["id"] : undefined;
}

/** Whether the endpoint may be so new that a reading does not show it yet. */
function mayBeNew({ http }: EndpointsApi, reading: Reading, born: number | undefined): boolean {
  // A reading that has not begun will begin now.
  const began = http.serviceClock.at(Math.min(reading.began, http.clock.now()));
  return born === undefined || began === undefined || born > began - LIST_LAG - 1_000;
}
