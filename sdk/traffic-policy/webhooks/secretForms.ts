import { createPublicKey } from "node:crypto";
import { missingValueIn } from "../../../provider/data/missingValues";
import { MIN_SECRET_LENGTH } from "../../../provider/data/text";
import { platformInfo, type WebhookPlatformInfo } from "./platforms";

/* Checks the secrets with which platforms sign. No message quotes a secret. */

const VAULT_ENTRY = /^\$\{\s*secrets\.get\(\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*\)\s*\}$/;

/** The vault and the entry that a `${secrets.get(…)}` names. Undefined if the text is the secret itself. */
export function vaultReference(secret: string): { vault: string; name: string } | undefined {
  const [, , vault, , name] = VAULT_ENTRY.exec(secret) ?? [];
  return vault === undefined || name === undefined ? undefined : { vault, name };
}

/** Why this text cannot be the platform's secret; undefined if it can. */
export const secretProblem = (platform: string, secret: string): string | undefined =>
  textProblem(secret) ?? formProblem(platform, secret);

/** @throws Error if this secret cannot sign or verify anything, as a reference to a vault cannot. */
export function assertUsable(platform: string, secret: string): void {
  const problem = vaultReference(secret)
    ? "refers to the vault; give the value in the vault"
    : secretProblem(platform, secret);
  if (problem !== undefined) throw new Error(`the secret of ${platform} ${problem}`);
}

/** The key in a base64 secret. Undefined for any other text and for a short key, so that an empty key never verifies. */
export function base64Key(secret: string): Buffer | undefined {
  const key = decoded(secret.replace(/^whsec_/, ""));
  return key && key.length >= MIN_SIGNING_KEY_LENGTH ? key : undefined;
}

/** The fewest bytes of a key. Platforms use 24 bytes or more, so a shorter key was cut off or can be guessed. */
const MIN_SIGNING_KEY_LENGTH = 16;

/** Why this text cannot be a secret of any platform. */
function textProblem(secret: string): string | undefined {
  if (secret === "") return "is empty";
  const missing = missingValueIn(secret, { isSecret: true });
  if (missing !== undefined) return missing;
  // Checked before line breaks, because a PEM file contains line breaks and would be wrong without them, too.
  if (/^\s*-----BEGIN/.test(secret))
    return "is a PEM file; give the text between its first and last line, without line breaks";
  if (/[\r\n]$/.test(secret))
    return "ends with a line break, perhaps from a file or `echo`; remove it, because it would be part of the secret";
  // Format characters, such as the zero-width space, are invisible too.
  if (/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(secret))
    return "begins or ends with a space or a line break; remove it";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for them
  if (/[\x00-\x1f\x7f]/.test(secret))
    return "contains a line break or another control character; copy it again";
  if (secret.startsWith("v1,whsec_")) return "begins with the version of the signature; leave out `v1,`";
  if (secret === "whsec_") return "is only the beginning of a secret; copy the whole of it";
  return undefined;
}

/** Why the text does not have the form of the platform's secrets. */
function formProblem(platform: string, secret: string): string | undefined {
  const { form, name = "" } = platformInfo(platform) ?? {};
  const [fits, problem] = FORMS[form ?? "any text"];
  return fits(secret) ? undefined : problem(name);
}

type Form = [fits: (secret: string) => boolean, problem: (platform: string) => string];

// biome-ignore format: one form per line, as a table
const FORMS: Record<NonNullable<WebhookPlatformInfo["form"]> | "any text", Form> = {
  "public key": [isEcdsaKey, (name) => `is not the verification key of ${name}: an ECDSA public key in base64, which begins with MFkw`],
  "base64 key": [(secret) => base64Key(secret) !== undefined, (name) => `is not a key of ${name}: a key of at least ${MIN_SIGNING_KEY_LENGTH} bytes in base64; copy all of it, and nothing else`],
  "user and password": [(secret) => /^[^:]+::.+$/.test(secret), () => "must contain user name and password, as in username::password"],
  "32 characters": [({ length }) => length >= 32, (name) => `is too short: ${name} takes 32 characters or more`],
  "12 digits": [(secret) => /^\d{12}$/.test(secret), (name) => `must be the sending account, 12 digits without hyphens, as ${name} shows it`],
  "any text": [({ length }) => length >= MIN_SECRET_LENGTH, () => `is shorter than ${MIN_SECRET_LENGTH} characters, and could not be masked in reports; choose a longer one`],
};

function isEcdsaKey(base64: string): boolean {
  try {
    const der = decoded(base64) ?? Buffer.alloc(0);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    // Compared with the whole text, because parsers of DER ignore what follows the key.
    return key.asymmetricKeyType === "ec" && key.export({ format: "der", type: "spki" }).equals(der);
  } catch {
    return false;
  }
}

/** The bytes of exact base64. Undefined for other text, in which `Buffer.from` would skip invalid characters. */
function decoded(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : undefined;
}
