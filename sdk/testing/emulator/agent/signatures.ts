import { createHash, timingSafeEqual } from "node:crypto";
import { keyProblem } from "../../../webhookSecret";
import { base62 } from "../ids";
import { type Headers, type SignedPlatform, webhookScheme } from "./schemes";

/** What is to be signed. */
export interface WebhookToSign {
  /** The body, byte for byte as it will be sent. */
  body: string | Uint8Array;
  /** The secret that the platform and the receiver share. */
  secret: string;
  /** When it is sent; ignored by platforms that sign no time. Default: now. */
  at?: Date;
  /** The delivery's identifier; ignored by platforms that sign none. Default: a random one. */
  id?: string;
}

export type Verdict = { verified: true; answer?: string } | { verified: false; reason: string };

/**
 * The headers with which a platform would send this webhook, to test a handler or the stand-in of the agent.
 *
 * ```ts
 * await fetch(url, { method: "POST", body, headers: signWebhook("github", { body, secret }) });
 * ```
 *
 * @throws Error for a platform whose scheme the kit does not know, and for what cannot be its secret.
 */
export function signWebhook(
  platform: SignedPlatform | (string & {}),
  webhook: WebhookToSign,
): Record<string, string> {
  const { body, secret, at = new Date(), id = `msg_${base62()}` } = webhook;
  const scheme = webhookScheme(platform);
  requireKey(platform, secret);
  const time = scheme.time?.write(at) ?? "";
  return scheme.write(scheme.sign(secret, Buffer.from(body), time, id), time, id);
}

/** Throws for what is no secret of the platform: it could leave an empty key, with which everybody can sign. */
export function requireKey(platform: string, secret: string): void {
  const problem = keyProblem(platform, secret);
  if (problem) throw new Error(`the secret of ${platform} ${problem}`);
}

/** Verifies a request as the service does: its signature, and that a signed time is near enough to now. */
export function verifyWebhook(
  platform: string,
  { headers, body, secret, now }: { headers: Headers; body: Buffer; secret: string; now: Date },
): Verdict {
  const scheme = webhookScheme(platform);
  const found = scheme.read(headers);
  if (!found) return { verified: false, reason: "it is not signed" };
  const { signatures, time, id } = found;
  if (scheme.time) {
    const seconds = Math.abs(scheme.time.read(time).getTime() - now.getTime()) / 1000;
    // A time that is none gives NaN, which is no distance either.
    if (!(seconds <= scheme.time.toleranceSeconds)) {
      return {
        verified: false,
        reason: `its signed time is not within ${scheme.time.toleranceSeconds} seconds of now`,
      };
    }
  }
  const expected = scheme.sign(secret, body, time, id);
  // All are compared, so that the time it takes does not tell which was right.
  if (signatures.filter((signature) => same(signature, expected)).length === 0) {
    return { verified: false, reason: "its signature is not that of this body and secret" };
  }
  const answer = scheme.challenge?.(secret, body);
  return answer === undefined ? { verified: true } : { verified: true, answer };
}

/** In constant time. Digests of both, since the comparison wants equal lengths. */
function same(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
