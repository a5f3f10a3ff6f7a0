import { createPublicKey } from "node:crypto";
import { missingValueIn } from "../data/missingValues";
import { MIN_SECRET_LENGTH } from "../data/text";
import { platformInfo, type WebhookPlatformInfo } from "./platforms";

/* The secrets that platforms sign with. No message quotes one. */

const VAULT_ENTRY = /^\$\{\s*secrets\.get\(\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*\)\s*\}$/;

/** The vault's entry with the secret. Undefined if the text is no reference to the vault, but the secret itself. */
export function vaultReference(secret: string): { vault: string; name: string } | undefined {
  const [, , vault, , name] = VAULT_ENTRY.exec(secret) ?? [];
  return vault === undefined || name === undefined ? undefined : { vault, name };
}

/** Why this text cannot be the platform's secret; undefined if it can. */
export const secretProblem = (platform: string, secret: string): string | undefined =>
  textProblem(secret) ?? formProblem(platform, secret);

/** @throws Error if this secret cannot sign or verify anything. A reference to the vault cannot. */
export function assertUsable(platform: string, secret: string): void {
  const problem = vaultReference(secret)
    ? "refers to the vault; give the value in the vault"
    : secretProblem(platform, secret);
  if (problem !== undefined) throw new Error(`the secret of ${platform} ${problem}`);
}

/** The key in a secret of this form. Undefined if it has none, so that an empty key never verifies. */
export function base64Key(secret: string): Buffer | undefined {
  const key = decoded(secret.replace(/^whsec_/, ""));
  return key && key.length >= MIN_SIGNING_KEY_LENGTH ? key : undefined;
}

/** In bytes. Platforms use keys of 24 bytes or more. A key below this length was cut off, or can be guessed. */
const MIN_SIGNING_KEY_LENGTH = 16;

/** Texts that templates and displays write in place of a secret. `[secret]` is Pulumi's. */
const PLACEHOLDER = /^(change[-_ ]?me|[*•]+|\[secret\]|\[object \w+\])$/i;

/** References that a shell, a template or a secret store fills in, and what a manual writes. One to the vault is none: the service fills it in. */
const UNFILLED =
  /^(\$[A-Z][A-Z\d_]*|\$\{[A-Z][A-Z\d_]*\}|\$\(.*\)|%[A-Z][A-Z\d_]*%|<[\w .-]+>|\{[\w .-]+\}|\{\{.*\}\}|(op|ref\+\w+):\/\/.*)$/;

/** A mistake in the text that is wrong for every platform. */
function textProblem(secret: string): string | undefined {
  if (secret === "") return "is empty";
  const missing = missingValueIn(secret, { isSecret: true });
  if (missing !== undefined) return missing;
  if (PLACEHOLDER.test(secret) || UNFILLED.test(secret))
    return "is a placeholder, which anybody could sign with; give the secret itself";
  // Checked before line breaks: a PEM file has some, and it would be wrong without them, too.
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

/** Why the text has not the form of the platform's secrets. */
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
    // Parsers of DER ignore text after the key.
    return key.asymmetricKeyType === "ec" && key.export({ format: "der", type: "spki" }).equals(der);
  } catch {
    return false;
  }
}

/** Undefined for text that is not exact base64. `Buffer.from` would skip other characters. */
function decoded(base64: string): Buffer | undefined {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : undefined;
}
