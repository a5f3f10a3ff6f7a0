import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { type SignedPlatform, webhookScheme } from "./schemes";
import { assertUsable } from "./secretForms";

export interface WebhookToSign {
  /** The exact body of the request. */
  body: string | Uint8Array;
  /** The secret that the platform and the receiver share. */
  secret: string;
  /** The time of the request. Ignored if the platform signs no time. Default: now. */
  at?: Date;
  /** The identifier of the delivery. Ignored if the platform signs none. Default: a random one. */
  id?: string;
}

/**
 * Returns the headers with which a platform would send this webhook, to test a handler or an endpoint's policy.
 *
 * ```ts
 * await fetch(url, { method: "POST", body, headers: signWebhook("github", { body, secret }) });
 * ```
 *
 * @throws Error if the platform's scheme is unknown, or if the secret is not valid for it.
 */
export function signWebhook(
  platform: SignedPlatform | (string & {}),
  webhook: WebhookToSign,
): Record<string, string> {
  const { body, secret, at = new Date(), id = `msg_${randomUUID()}` } = webhook;
  const scheme = webhookScheme(platform);
  assertUsable(platform, secret);
  const time = scheme.time?.write(at) ?? "";
  return scheme.write(scheme.sign(secret, Buffer.from(body), time, id), time, id);
}

/** A received webhook, with the secret to verify it. */
interface ReceivedWebhook {
  /** The headers, with names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
  /** The secret that the platform and the receiver share. */
  secret: string;
  /** The clock for signed times. */
  now: Date;
}

/** The result of a verification, with the reason if it failed. */
export type Verdict = { verified: true } | { verified: false; reason: string };

/**
 * Verifies a webhook as the service's action `verify-webhook` does: its signature and, if one is signed, its time.
 *
 * @throws Error if the platform's scheme is unknown, or if the secret is not valid for it.
 */
export function verifyWebhook(platform: string, { headers, body, secret, now }: ReceivedWebhook): Verdict {
  const scheme = webhookScheme(platform);
  assertUsable(platform, secret);
  const { signatures, time = "", id = "" } = scheme.read(headers);
  if (signatures.length === 0) return { verified: false, reason: "it is not signed" };
  if (scheme.time) {
    const seconds = Math.abs(scheme.time.read(time).getTime() - now.getTime()) / 1000;
    // For an invalid time, `seconds` is NaN and the comparison is false.
    if (!(seconds <= scheme.time.toleranceSeconds)) {
      const reason = `its signed time is not within ${scheme.time.toleranceSeconds} seconds of now`;
      return { verified: false, reason };
    }
  }
  const expected = scheme.sign(secret, Buffer.from(body), time, id);
  // Compares all signatures, so that the duration does not reveal which one matched.
  return signatures.filter((signature) => areEqual(signature, expected)).length > 0
    ? { verified: true }
    : { verified: false, reason: "its signature is not that of this body and secret" };
}

/** Compares texts in constant time. The digests are compared, because `timingSafeEqual` needs equal lengths. */
function areEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
