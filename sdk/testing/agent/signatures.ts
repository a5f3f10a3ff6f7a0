import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { keyProblem, secretProblem, vaultReference } from "../../webhooks/webhookSecret";
import { type Headers, type SignedPlatform, webhookScheme } from "./schemes";
import type { Verification } from "./source";

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

export type Verdict = { verified: true } | { verified: false; reason: string };

/**
 * The headers with which a platform would send this webhook, to test a handler or the stand-in of the agent.
 *
 * ```ts
 * await fetch(url, { method: "POST", body, headers: signWebhook("github", { body, secret }) });
 * ```
 *
 * @throws Error for a platform whose scheme the test kit does not know, and for what cannot be its secret.
 */
export function signWebhook(
  platform: SignedPlatform | (string & {}),
  webhook: WebhookToSign,
): Record<string, string> {
  const { body, secret, at = new Date(), id = `msg_${randomUUID()}` } = webhook;
  const scheme = webhookScheme(platform);
  const time = scheme.time?.write(at) ?? "";
  const key = usable(platform, secret, keyProblem(platform, secret));
  return scheme.write(scheme.sign(key, Buffer.from(body), time, id), time, id);
}

/**
 * The secret itself, also where the policy names the vault's entry that holds it.
 *
 * @throws Error for a platform whose scheme is not known, and for what cannot be its secret: it could leave an empty key,
 *   with which everybody can sign.
 */
export function secretOf(
  { provider, secret = "" }: Verification,
  vaults: Record<string, Record<string, string>>,
): string {
  webhookScheme(provider);
  const reference = vaultReference(secret);
  if (!reference) return usable(provider, secret, secretProblem(provider, secret));
  const { vault, name } = reference;
  const entry = vaults[vault]?.[name];
  if (entry === undefined) throw new Error(`the vault ${vault} has no entry ${name}; give it in vaults`);
  return usable(provider, entry, keyProblem(provider, entry));
}

function usable(platform: string, secret: string, problem: string | undefined): string {
  if (problem) throw new Error(`the secret of ${platform} ${problem}`);
  return secret;
}

/** A request, and what it is verified with. */
export interface Delivery {
  headers: Headers;
  body: Buffer;
  secret: string;
  now: Date;
}

/** Verifies a request as the service does: its signature, and that a signed time is near enough to now. */
export function verifyWebhook(platform: string, { headers, body, secret, now }: Delivery): Verdict {
  const scheme = webhookScheme(platform);
  const { signatures, time = "", id = "" } = scheme.read(headers);
  if (signatures.length === 0) return { verified: false, reason: "it is not signed" };
  if (scheme.time) {
    const seconds = Math.abs(scheme.time.read(time).getTime() - now.getTime()) / 1000;
    // An invalid time gives NaN, which fails this comparison.
    if (!(seconds <= scheme.time.toleranceSeconds)) {
      const reason = `its signed time is not within ${scheme.time.toleranceSeconds} seconds of now`;
      return { verified: false, reason };
    }
  }
  const expected = scheme.sign(secret, body, time, id);
  // Compares all of them, so that the time taken does not reveal which one matched.
  return signatures.filter((signature) => same(signature, expected)).length > 0
    ? { verified: true }
    : { verified: false, reason: "its signature is not that of this body and secret" };
}

/** In constant time. Digests of both, since the comparison wants equal lengths. */
function same(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
