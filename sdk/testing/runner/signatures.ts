import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { keyProblem, secretProblem, vaultReference } from "../../webhooks/webhookChecks";
import { type Headers, type SignedPlatform, webhookScheme } from "./schemes";
import { type Vaults, vaultEntry } from "./vaults";

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

/** What verify-webhook verifies. */
export interface Verification {
  provider: string;
  secret?: string | undefined;
}

export type Verdict = { verified: true } | { verified: false; reason: string };

/**
 * Returns the headers with which a platform would send this webhook, to test a handler or an endpoint's policy.
 *
 * ```ts
 * await fetch(url, { method: "POST", body, headers: signWebhook("github", { body, secret }) });
 * ```
 *
 * @throws Error if the test kit does not know how the platform signs, or if the secret is not valid for it.
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
 * Returns the secret of a verification. If the policy refers to a vault, this is the entry of the vault.
 *
 * @throws Error if the platform's scheme is unknown, or if the secret is not valid for it. An invalid secret can give an
 *   empty key, with which anyone can sign.
 */
export function secretOf({ provider, secret = "" }: Verification, vaults: Vaults): string {
  webhookScheme(provider);
  const reference = vaultReference(secret);
  if (!reference) return usable(provider, secret, secretProblem(provider, secret));
  const { vault, name } = reference;
  const entry = vaultEntry(vaults, vault, name);
  if (entry === undefined)
    throw new Error(`the vault ${vault} has no entry ${name}; add it to the option vaults`);
  return usable(provider, entry, keyProblem(provider, entry));
}

function usable(platform: string, secret: string, problem: string | undefined): string {
  if (problem) throw new Error(`the secret of ${platform} ${problem}`);
  return secret;
}

export interface Delivery {
  headers: Headers;
  body: Buffer;
  secret: string;
  now: Date;
}

/** Verifies a request like the service: its signature and, if one is signed, its time. */
export function verifyWebhook(platform: string, { headers, body, secret, now }: Delivery): Verdict {
  const scheme = webhookScheme(platform);
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
  const expected = scheme.sign(secret, body, time, id);
  // Compares all signatures, so that the duration does not reveal which one matched.
  return signatures.filter((signature) => same(signature, expected)).length > 0
    ? { verified: true }
    : { verified: false, reason: "its signature is not that of this body and secret" };
}

/** Compares in constant time. It compares digests, because `timingSafeEqual` needs equal lengths. */
function same(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
