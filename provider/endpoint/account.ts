import { createHash } from "node:crypto";
import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { isService404, type UserError } from "../service/apiErrors";
import type { Log } from "../service/client";
import { TimeBudget } from "../service/clock";
import type { EndpointsApi } from "../service/endpoints";
import type { Settings } from "../service/settings";
import { notOfThisAccount, OtherAccountError, otherAccountToo } from "./errors";

/*
 * Whether this run uses the account that the state was written with. With the key of another account every endpoint of the stack is
 * missing, so the state has a fingerprint of base URL and key. A rotated key has another fingerprint, but still shows the endpoints.
 */

/** The note of the account that the state was written with. */
export const FINGERPRINT_KEY = "__accountFingerprint";

/** A short hash of base URL and key, which reveals neither. */
export function accountFingerprint({ baseUrl, apiKey }: Pick<Settings, "baseUrl" | "apiKey">): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}

/** A missing endpoint, and what this run knows of its account. */
export interface MissingEndpoint {
  id: string;
  stored: JsonObject;
  /** Whether the entry of another endpoint in this run was written with this account. */
  isOfAccount(id: string, account: unknown): boolean;
}

/**
 * @throws UserError unless this is the account with the stack's endpoints: the state has its fingerprint, or the list shows another
 *   endpoint whose entry has the same fingerprint as the missing one.
 */
export async function assertAccount(
  { http, list }: EndpointsApi,
  { id, stored, isOfAccount }: MissingEndpoint,
): Promise<void> {
  const account = stored[FINGERPRINT_KEY];
  if (account === accountFingerprint(http.settings)) return;
  const listing = list.listingSinceWriteOf(id);
  const isEvidence = (other: string) => other !== id && isOfAccount(other, account);
  const isProven = () => [...listing.endpoints.keys()].some(isEvidence);
  await listing.until(isProven);
  if (!isProven()) throw new OtherAccountError(id, listing.endpoints.size, http.settings);
}

/** The messages of a process about an account that is not the state's. Only the first error is in full. */
export class AccountMessages {
  private first: OtherAccountError | undefined;
  private hasLooked = false;

  constructor(private readonly log: Log) {}

  /** The error itself if it is the first of this process. Otherwise a short error that names the first. */
  inFullOnlyOnce(error: OtherAccountError): UserError {
    this.first ??= error;
    return this.first.id === error.id ? error : otherAccountToo(error.id, this.first);
  }

  /** Warns if this account does not have an unchanged endpoint. Makes one request in a process, and only with another fingerprint. */
  async warnIfMissing(api: EndpointsApi, id: string, stored: JsonObject): Promise<void> {
    const { settings, clock } = api.http;
    const account = stored[FINGERPRINT_KEY];
    if (this.hasLooked || account === undefined || account === accountFingerprint(settings)) return;
    this.hasLooked = true;
    // One attempt: a preview must not wait for a service that it does not need.
    const isMissing = await api.get(id, new TimeBudget(clock, 0)).then(() => false, isService404);
    if (isMissing) this.log.warn(notOfThisAccount(id, settings));
  }
}
