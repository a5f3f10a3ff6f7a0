import { createPublicKey } from "node:crypto";
import { z } from "zod";
import { standInsIn } from "../../provider/endpoint/outputAsText";
import { SHORTEST_SECRET } from "../../provider/endpoint/secrets";
import { didYouMean } from "../../provider/service/text";
import { normalizeUrl, urlProblem } from "../../provider/service/url";
import { platformInfo, type WebhookPlatformInfo } from "./platforms";
import {
  agentConfigVersions,
  plans,
  type WebhookAgent,
  type WebhookSettings,
  type WebhookSettingsWritten,
} from "./webhookArgs";

/*
 * The checks of a WebhookVerification's inputs, without the service. No message quotes a value, because it may be a secret in
 * the wrong place.
 */

type FieldChecks<T> = { [Name in keyof T]-?: z.ZodType<unknown, T[Name] | undefined> };

const textLike = (example: string) => z.string({ error: `must be text, as in ${example}` });

/** The checks of its agent. */
export const agentFields = {
  name: textLike("hooks").min(1, "must not be empty").optional(),
  url: textLike("https://hooks.example.com")
    .check((context) => {
      const problem = urlProblem(context.value) ?? wrongScheme(context.value);
      if (problem) context.issues.push({ code: "custom", input: undefined, message: problem });
    })
    .transform((url) => normalizeUrl(url) ?? url)
    .optional(),
  upstream: z
    .custom<number | string>((value) => upstreamProblem(value) === undefined, {
      error: ({ input }) => upstreamProblem(input),
    })
    .transform((upstream) => (/^\d+$/.test(`${upstream}`) ? Number(upstream) : upstream)),
} satisfies FieldChecks<WebhookAgent>;

/** The checks of the inputs, by name. */
export const webhookFields = {
  platform: textLike("github").min(1, "must not be empty"),

  secret: textLike("the key that the platform shows").optional(),

  enforce: z.boolean({ error: "must be true or false" }).optional(),

  expressions: z
    .array(textLike("req.url.path.startsWith('/brex')").min(1, "must not contain an empty expression"), {
      error: "must be a list of CEL expressions",
    })
    .min(1, "must contain an expression; remove it to verify every request")
    .optional(),

  agent: z
    .strictObject(agentFields, { error: "must have an upstream, and can have a name and a url" })
    .optional(),

  agentConfigVersion: z.literal(agentConfigVersions, { error: "must be 2 or 3" }).optional(),

  expectedDeliveriesPerMonth: z
    .number({ error: "must be a number" })
    .min(0, "must not be negative")
    .optional(),

  plan: z.enum(plans, { error: `must be ${plans.slice(0, -1).join(", ")} or ${plans.at(-1)}` }).optional(),
} satisfies FieldChecks<WebhookSettingsWritten>;

export type WebhookField = keyof typeof webhookFields;

/** A mistake in an input, or in a part of it. The reason continues the sentence that the path begins. */
export interface Mistake {
  path: string;
  reason: string;
}

/** The value in its checked form, or its mistakes. */
export function checkField<K extends WebhookField>(
  field: K,
  value: unknown,
): { value: WebhookSettings[K] } | { mistakes: Mistake[] } {
  const parsed = webhookFields[field].safeParse(value);
  if (parsed.success) return { value: parsed.data as WebhookSettings[K] };
  const { issues } = parsed.error;
  // If an input of an agent seems to be missing, it may have a wrong name.
  const misnamed = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          path: `${field}.${key}`,
          reason: `is no input; ${field} ${issue.message}`,
        }))
      : [],
  );
  if (misnamed.length > 0) return { mistakes: misnamed };
  return {
    mistakes: issues.map((issue) => ({
      path: [field, ...issue.path.filter((part) => typeof part === "string")].join("."),
      reason: `${value === undefined ? "is missing: it " : ""}${issue.message}`,
    })),
  };
}

/** The mistake of an argument that does not exist, with a suggestion. */
export function unknownField(name: string): Mistake | undefined {
  if (Object.hasOwn(webhookFields, name)) return undefined;
  const names = Object.keys(webhookFields);
  const known = names.map((known) => (known === "platform" ? [known, "provider"] : known));
  const hint = didYouMean(name, known, `the inputs are ${names.join(", ")}`);
  return { path: name, reason: `is no input of a webhook verification${hint}` };
}

/** What this version of the agent's configuration file cannot express of an agent; undefined if it can express all. */
export function agentMistake({ url }: WebhookAgent, version: 2 | 3): Mistake | undefined {
  if (version === 3 || !url || !/:\d+$/.test(url)) return undefined;
  const reason =
    "has a port, which version 2 of the configuration cannot express; remove the port, or use version 3";
  return { path: "agent.url", reason };
}

function wrongScheme(url: string): string | undefined {
  return /^https?:/i.test(url.trim())
    ? undefined
    : "must be an http or https URL, because webhooks use no other scheme";
}

function upstreamProblem(value: unknown): string | undefined {
  const wrong = "must be a port from 1 to 65535, or a URL, as in http://localhost:8080";
  const port = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof port === "number")
    return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : wrong;
  if (typeof value !== "string" || !/^https?:\/\/./.test(value) || !URL.canParse(value)) return wrong;
  const { pathname, search, hash } = new URL(value);
  if (pathname === "/" && search === "" && hash === "") return undefined;
  return "has a path, query or fragment; write only scheme, host and port, as in http://localhost:8080, because agents keep each request's own path";
}

const VAULT_ENTRY = /^\$\{\s*secrets\.get\(\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*\)\s*\}$/;

/** The vault's entry with the secret. Undefined if the text is no reference to the vault, but the secret itself. */
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
    if (info?.origin === "account") return `is missing: for ${info.name} it is the sending account`;
    return `is missing: ${info?.name ?? "the platform"} signs with one`;
  }
  const problem = textProblem(secret);
  if (problem || vaultReference(secret)) return problem;
  if (/\$\{/.test(secret))
    return "contains ${, which starts an expression in a traffic policy; choose another secret, or store it in the service's vault and give the expression that reads it from there";
  return formProblem(platform, secret);
}

/** Why this secret cannot sign or verify anything; undefined if it can. A reference to the vault cannot. */
export function keyProblem(platform: string, secret: string): string | undefined {
  if (vaultReference(secret)) return "refers to the vault; give the value in the vault";
  return textProblem(secret) ?? formProblem(platform, secret);
}

/** The key in a secret of this form. Undefined if it has none, so that an empty key never verifies. */
export function base64Key(secret: string): Buffer | undefined {
  const key = decoded(secret.replace(/^whsec_/, ""));
  return key && key.length >= SHORTEST_SIGNING_KEY ? key : undefined;
}

/** In bytes. Platforms use keys of 24 bytes or more. A key below this length was cut off, or can be guessed. */
const SHORTEST_SIGNING_KEY = 16;

/** Texts that templates and displays write in place of a secret. `[secret]` is Pulumi's. */
const PLACEHOLDER = /^(change[-_ ]?me|[*•]+|\[secret\])$/i;

/** A mistake in the text that is wrong for every platform. */
function textProblem(secret: string): string | undefined {
  if (secret === "") return "is empty";
  // These texts are the same everywhere, so anybody could sign with them.
  const [standIn] = standInsIn(secret);
  if (standIn !== undefined) return standIn;
  if (secret === "undefined")
    return "is the word undefined, which JavaScript writes for a value that is missing; check where the secret comes from";
  if (PLACEHOLDER.test(secret))
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
  "base64 key": [(secret) => base64Key(secret) !== undefined, (name) => `is not a key of ${name}: a key of at least ${SHORTEST_SIGNING_KEY} bytes in base64; copy all of it, and nothing else`],
  "user and password": [(secret) => /^[^:]+::.+$/.test(secret), () => "must contain user name and password, as in username::password"],
  "32 characters": [({ length }) => length >= 32, (name) => `is too short: ${name} takes 32 characters or more`],
  "12 digits": [(secret) => /^\d{12}$/.test(secret), (name) => `must be the sending account, 12 digits without hyphens, as ${name} shows it`],
  "any text": [({ length }) => length >= SHORTEST_SECRET, () => `is shorter than ${SHORTEST_SECRET} characters, and could not be masked in reports; choose a longer one`],
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
