import { createHash } from "node:crypto";
import { type ApiError, EndpointsError, isOfService } from "./api/apiErrors";
import type { LiveEndpoint } from "./api/contract";
import type { EndpointsApi } from "./api/endpoints";
import type { JsonObject } from "./api/json";
import { isMapping } from "./api/json";
import { createdAt, type Reading } from "./api/reading";
import type { Settings } from "./config";
import { GoneUnprovenError, OtherAccountError, StillListedError } from "./errors";
import { ACCOUNT_KEY } from "./state";

/*
 * A 404 is one reply, and one reply proves little: the base URL may lack a path prefix, a gateway may have answered in the
 * service's place, the key may be another account's. An endpoint is dropped from a state only with a second piece of
 * evidence, since Pulumi drops whatever a provider calls gone, all of a stack at once and without a question.
 */

/** How long a list may lag behind what was done, in milliseconds. */
export const LIST_LAG = 5_000;

/** A list that still shows what is gone is read again after these waits, in milliseconds. */
const LOOK_AGAIN_AFTER = [1_000, LIST_LAG - 1_000];

/** A short fingerprint of base URL and key, which reveals neither. */
export function accountFingerprint({ baseUrl, apiKey }: Pick<Settings, "baseUrl" | "apiKey">): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}

/** Decides whether an endpoint is gone, for all resources of one process. */
export class GoneCheck {
  private answeredForOwn = false;

  /**
   * @param known The ids that states of this run hold.
   * @param created Those that this process created.
   */
  constructor(
    private readonly known: ReadonlySet<string>,
    private readonly created: ReadonlySet<string>,
  ) {}

  /** The service has answered for an endpoint that a state of this run holds: so this is the stack's account. */
  answered(): void {
    this.answeredForOwn = true;
  }

  /**
   * Returns where the endpoint is gone.
   *
   * @param notFound The 404 for it.
   * @throws UserError where that is not proven; the message names what was found, and how to go on.
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
      throw error instanceof EndpointsError ? new GoneUnprovenError(id, notFound, error) : error;
    }
  }

  /** A reading of the list that does not show the endpoint, though it would if it were there. */
  private async readingWithout(
    api: EndpointsApi,
    notFound: ApiError,
    id: string,
    stored: JsonObject,
  ): Promise<Reading> {
    const { clock } = api.http;
    const born = createdAt(stored);
    const isOwn = isOfService(notFound);
    let reading = api.list.since(0);
    const isNew = this.isNew(api, reading, id, born);
    // The service itself may not know yet what was created a moment ago; what a gateway says proves nothing at any age.
    if (isNew === true || (isNew === undefined && !isOwn)) {
      await clock.sleep(LIST_LAG);
      reading = api.list.since(clock.now());
    }
    // After the service's own 404, that its list answers too shows that the base URL is the right one.
    await (isOwn ? reading.until(() => reading.pages > 0) : reading.backTo(born ?? Number.NEGATIVE_INFINITY));
    for (const wait of LOOK_AGAIN_AFTER) {
      if (!isListed(reading, id)) return reading;
      await clock.sleep(wait);
      reading = api.list.since(clock.now());
      await reading.backTo(born ?? Number.NEGATIVE_INFINITY);
    }
    if (isListed(reading, id)) throw new StillListedError(id, notFound);
    return reading;
  }

  /** Whether the endpoint is so new that a reading may lack it although it is there; undefined where that cannot be told. */
  private isNew(
    api: EndpointsApi,
    reading: Reading,
    id: string,
    born: number | undefined,
  ): boolean | undefined {
    const { clock, serviceClock } = api.http;
    // A reading that has not begun yet begins now.
    const began = serviceClock.at(Math.min(reading.began, clock.now()));
    if (this.created.has(id)) return true;
    return born === undefined || began === undefined ? undefined : born > began.earliest - LIST_LAG;
  }

  /** @throws UserError where it may be another account than the one that has the stack's endpoints. */
  private async assertAccount(
    settings: Settings,
    reading: Reading,
    id: string,
    stored: JsonObject,
  ): Promise<void> {
    if (stored[ACCOUNT_KEY] === accountFingerprint(settings) || settings.acceptAccount) return;
    const principal = principalOf(stored);
    const isOurs = (live: LiveEndpoint) =>
      (live.id !== id && this.known.has(live.id)) ||
      (principal !== undefined && principalOf(live) === principal);
    const isProven = () => this.answeredForOwn || [...reading.endpoints.values()].some(isOurs);
    await reading.until(isProven);
    if (!isProven()) throw new OtherAccountError(id, reading.endpoints.size, settings.baseUrl);
  }
}

const isListed = ({ endpoints, skipped }: Reading, id: string) =>
  endpoints.has(id) || skipped.some((item) => item.id === id);

function principalOf({ principal }: JsonObject): string | undefined {
  return isMapping(principal) && typeof principal["id"] === "string" ? principal["id"] : undefined;
}
