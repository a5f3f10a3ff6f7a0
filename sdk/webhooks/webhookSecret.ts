import { createPublicKey } from "node:crypto";
import { SHORTEST_SECRET } from "../../provider/secrets";
import { platformInfo } from "./platforms";

/*
 * Checks of a secret without the service. No message quotes the secret, nor a platform that the catalogue lacks, since that
 * may be the secret in the wrong place.
 */

const VAULT_ENTRY = /^\$\{\s*secrets\.get\(\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*\)\s*\}$/;

/** The vault's entry that holds the secret, if this is a reference to one and not the secret itself. */
export function vaultReference(secret: string): { vault: string; name: string } | undefined {
  const [, , vault, , name] = VAULT_ENTRY.exec(secret) ?? [];
  return vault === undefined || name === undefined ? undefined : { vault, name };
}

/** Whether platform and secret are swapped, by the catalogue. */
export function areSwapped(platform: string, secret: string | undefined): boolean {
  return !platformInfo(platform) && secret !== undefined && platformInfo(secret) !== undefined;
}

/** Why this cannot be the platform's secret; undefined if it can. */
export function secretProblem(platform: string, secret: string | undefined): string | undefined {
  const info = platformInfo(platform);
  if (secret === undefined) {
    if (info?.origin === "account") return `is missing: for ${info.name} it is the account that sends`;
    return `is missing: ${info?.name ?? "the platform"} signs with one`;
  }
  const problem = textProblem(secret);
  if (problem || vaultReference(secret)) return problem;
  if (/\$\{/.test(secret)) {
    return "holds a $ before a {, which a traffic policy takes for an expression; choose another secret, or keep it in the service's vault and give the expression that reads it from there";
  }
  return formProblem(platform, secret);
}

/** Why nothing can be signed or verified with this secret, even if the vault has it. */
export function keyProblem(platform: string, secret: string): string | undefined {
  if (vaultReference(secret)) return "refers to the vault; give what the vault holds";
  return textProblem(secret) ?? formProblem(platform, secret);
}

/** The key in a secret of this form. Undefined if there is none, so that nothing verifies with an empty key. */
export function base64Key(secret: string): Buffer | undefined {
  const key = decoded(secret.replace(/^whsec_/, ""));
  return key && key.length >= SHORTEST_KEY ? key : undefined;
}

/** In bytes. Platforms make keys of 24 or more. A shorter one than this was cut off, or can be guessed. */
const SHORTEST_KEY = 16;

/** What is wrong with the text, on any platform. */
function textProblem(secret: string): string | undefined {
  if (secret === "") return "is empty";
  // Before line breaks: such a file has some, and removing them would not help.
  if (/^\s*-----BEGIN/.test(secret)) {
    return "is a PEM file; give what stands between its first and last line, without line breaks";
  }
  if (/[\r\n]$/.test(secret)) {
    return "ends with a line break, as a file or `echo` leaves it; take it off, since it would be part of the secret";
  }
  // Format characters, such as the zero-width space, are blanks that `trim` leaves.
  if (/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(secret)) {
    return "begins or ends with a space or a line break; take it off";
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(secret)) return "holds a line break or another control character";
  if (secret === "whsec_") return "is only the beginning of a secret; copy the whole of it";
  return undefined;
}

/** Whether the text has the form of the platform's secrets. */
function formProblem(platform: string, secret: string): string | undefined {
  const info = platformInfo(platform);
  switch (info?.form) {
    case "public key":
      return isEcdsaKey(secret)
        ? undefined
        : `is not what ${info.name} gives: its verification key, an ECDSA public key in base64, which begins with MFkw`;
    case "base64 key":
      return base64Key(secret)
        ? undefined
        : `is not what ${info.name} gives: a key in base64 of at least ${SHORTEST_KEY} bytes, with nothing missing and nothing added; copy the whole of it`;
    case "user and password":
      return /^[^:]+::.+$/.test(secret)
        ? undefined
        : `must be user name and password in one, as in username::password`;
    case "32 characters":
      return secret.length >= 32 ? undefined : `is too short: ${info.name} takes 32 characters or more`;
    case "12 digits":
      return /^\d{12}$/.test(secret)
        ? undefined
        : `must be the account that sends, 12 digits without hyphens, as ${info.name} shows it`;
    default:
      return secret.length >= SHORTEST_SECRET
        ? undefined
        : `is shorter than ${SHORTEST_SECRET} characters, and could not be kept out of messages; choose a longer one`;
  }
}

function isEcdsaKey(base64: string): boolean {
  try {
    const der = decoded(base64) ?? Buffer.alloc(0);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    // Parsers of DER ignore what follows the key.
    return key.asymmetricKeyType === "ec" && key.export({ format: "der", type: "spki" }).equals(der);
  } catch {
    return false;
  }
}

/** Undefined for text that no encoder writes. `Buffer.from` would skip what is not base64. */
function decoded(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : undefined;
}
