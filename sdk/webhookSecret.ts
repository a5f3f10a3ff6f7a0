import { createPublicKey } from "node:crypto";
import { SHORTEST_SECRET } from "../provider/secrets";
import { platformInfo } from "./webhookPlatforms";

/*
 * What can be told of a secret without the service. No message quotes it, nor a platform that the catalogue does not
 * have, since that may be the secret in the wrong place.
 */

const VAULT_ENTRY = /^\$\{\s*secrets\.get\(\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*\)\s*\}$/;

/** The vault's entry that holds the secret, where this is a reference to one and not the secret itself. */
export function vaultReference(secret: string): { vault: string; name: string } | undefined {
  const [, , vault, , name] = VAULT_ENTRY.exec(secret) ?? [];
  return vault === undefined || name === undefined ? undefined : { vault, name };
}

/** Whether these are in each other's place, as far as the catalogue can tell. */
export function areSwapped(platform: string, secret: string | undefined): boolean {
  return !platformInfo(platform) && secret !== undefined && platformInfo(secret) !== undefined;
}

/** Why this cannot be the platform's secret; undefined where it can. */
export function secretProblem(platform: string, secret: string | undefined): string | undefined {
  const info = platformInfo(platform);
  const name = info?.name ?? "the platform";
  if (secret === undefined) {
    return info?.origin === "none" ? undefined : `is missing: ${name} signs with one`;
  }
  if (secret === "") return "is empty";
  // Before the line breaks, of which such a file has some, and which would be no help to take off.
  if (/^\s*-----BEGIN/.test(secret)) {
    return "is a PEM file; give what stands between its first and last line, without line breaks";
  }
  if (/[\r\n]$/.test(secret)) {
    return "ends with a line break, as a file or `echo` leaves it; take it off, since it would be part of the secret";
  }
  if (secret !== secret.trim()) return "begins or ends with a space or a line break; take it off";
  if (vaultReference(secret)) return undefined;
  if (/\$\{/.test(secret)) {
    return "holds a $ before a {, which a traffic policy takes for an expression; choose another secret, or keep it in the service's vault and give the expression that reads it from there";
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(secret)) return "holds a line break or another control character";
  switch (info?.form) {
    case "public key":
      return isEcdsaKey(secret)
        ? undefined
        : `is not what ${name} gives: its verification key, an ECDSA public key in base64, which begins with MFkw`;
    case "user and password":
      return /^[^:]+::.+$/.test(secret)
        ? undefined
        : `must be user name and password in one, as in username::password`;
    case "32 characters":
      return secret.length >= 32 ? undefined : `is too short: ${name} takes 32 characters or more`;
    default:
      return secret.length >= SHORTEST_SECRET
        ? undefined
        : `is shorter than ${SHORTEST_SECRET} characters, and could not be kept out of messages; choose a longer one`;
  }
}

function isEcdsaKey(base64: string): boolean {
  try {
    const key = Buffer.from(base64, "base64");
    return createPublicKey({ key, format: "der", type: "spki" }).asymmetricKeyType === "ec";
  } catch {
    return false;
  }
}
