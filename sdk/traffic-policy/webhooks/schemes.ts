import { createHmac, randomBytes } from "node:crypto";
import { platformInfo } from "./platforms";
import { base64Key } from "./secretForms";

/*
 * The schemes by which platforms sign their webhooks, from their documentation. Tests compare a scheme with the platform's
 * published example if there is one. README.md lists the examples.
 */

/** Headers by lower-case name. */
type Headers = Readonly<Record<string, string | undefined>>;

/** What the headers of a webhook contain. */
interface Signatures {
  /** The signatures, of which one must be correct. A platform can send several while its secret is rotated. */
  signatures: string[];
  time?: string | undefined;
  id?: string | undefined;
}

interface Scheme {
  /** The format of the signed time. Missing if the platform signs no time, so a replayed webhook is verified, too. */
  time?: { write: (at: Date) => string; read: (text: string) => Date; toleranceSeconds: number };
  sign: (secret: string, body: Buffer, time: string, id: string) => string;
  write: (signature: string, time: string, id: string) => Record<string, string>;
  /** Reads the headers. Without a signature, the list is empty. */
  read: (headers: Headers) => Signatures;
}

type Encoding = "hex" | "base64";

function hmac(key: string | Buffer, signed: (string | Buffer)[], encoding: Encoding, algorithm = "sha256") {
  const digest = createHmac(algorithm, key);
  for (const part of signed) digest.update(part);
  return digest.digest(encoding);
}

const definedOf = (...values: (string | undefined)[]) => values.filter((value) => value !== undefined);

const unixTime = (toleranceSeconds: number) => ({
  write: (at: Date) => `${Math.floor(at.getTime() / 1000)}`,
  read: (text: string) => new Date(/^\d+$/.test(text) ? Number(text) * 1000 : Number.NaN),
  toleranceSeconds,
});

/** Only the body is signed: `X-Hub-Signature-256: sha256=…`. */
const bodySignature = (header: string, prefix: string, encoding: Encoding, algorithm?: string): Scheme => ({
  sign: (secret, body) => prefix + hmac(secret, [body], encoding, algorithm),
  write: (signature) => ({ [header]: signature }),
  read: (headers) => ({ signatures: definedOf(headers[header.toLowerCase()]) }),
});

/** Time and body are signed. One header lists the time and the signatures: `Stripe-Signature: t=…,v1=…,v1=…`. */
const timeAndSignatureInOneHeader = (header: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time) => hmac(secret, [`${time}.`, body], "hex"),
  write: (signature, time) => ({ [header]: `t=${time},v1=${signature}` }),
  read: (headers) => {
    const parts = (headers[header.toLowerCase()] ?? "").split(",").map((part) => part.trim().split(/=(.*)/s));
    const of = (name: string) => parts.flatMap(([key, value = ""]) => (key === name ? [value] : []));
    return { signatures: of("v1"), time: of("t")[0] };
  },
});

/** Version, time and body are signed. The time has its own header: `X-Slack-Signature: v0=…`. */
const versionedSignature = (header: string, timeHeader: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time) => `v0=${hmac(secret, [`v0:${time}:`, body], "hex")}`,
  write: (signature, time) => ({ [header]: signature, [timeHeader]: time }),
  read: (headers) => ({
    signatures: definedOf(headers[header.toLowerCase()]),
    time: headers[timeHeader.toLowerCase()],
  }),
});

/** Standard Webhooks: identifier, time and body are signed. The secret is `whsec_` and a key in base64. */
const standardWebhooks = (prefix: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time, id) => {
    // An invalid secret is refused earlier. If one got here, a random key would verify nothing.
    const key = base64Key(secret) ?? randomBytes(32);
    return `v1,${hmac(key, [`${id}.${time}.`, body], "base64")}`;
  },
  write: (signature, time, id) => ({
    [`${prefix}-Id`]: id,
    [`${prefix}-Timestamp`]: time,
    [`${prefix}-Signature`]: signature,
  }),
  read: (headers) => {
    const of = (name: string) => headers[`${prefix.toLowerCase()}-${name}`];
    return { signatures: of("signature")?.split(" ") ?? [], time: of("timestamp"), id: of("id") };
  },
});

/** The service's tolerance in seconds, for platforms that document none. */
const SERVICE_TOLERANCE = 180;

/** Keeps the published declarations short: the type has only the names of the platforms. */
const byPlatform = <Name extends string>(schemes: Record<Name, Scheme>) => schemes;

export const schemes = byPlatform({
  autodesk: bodySignature("x-adsk-signature", "sha1hash=", "hex", "sha1"),
  bitbucket: bodySignature("X-Hub-Signature", "sha256=", "hex"),
  box: {
    time: { write: (at) => at.toISOString(), read: (text) => new Date(text), toleranceSeconds: 600 },
    sign: (secret, body, time) => hmac(secret, [body, time], "base64"),
    write: (signature, time) => ({ "BOX-SIGNATURE-PRIMARY": signature, "BOX-DELIVERY-TIMESTAMP": time }),
    read: (headers) => ({
      signatures: definedOf(headers["box-signature-primary"], headers["box-signature-secondary"]),
      time: headers["box-delivery-timestamp"],
    }),
  },
  // Documented: the names of the headers, and two signatures during a rotation. Assumed, without a published example: the
  // signed text is the same as that of Svix, and the secret is base64 after an optional `whsec_`.
  brex: standardWebhooks("Webhook", SERVICE_TOLERANCE),
  calendly: timeAndSignatureInOneHeader("Calendly-Webhook-Signature", 180),
  circleci: bodySignature("circleci-signature", "v1=", "hex"),
  clerk: standardWebhooks("svix", 300),
  github: bodySignature("X-Hub-Signature-256", "sha256=", "hex"),
  // The request contains the secret itself. A changed body or a replay cannot be detected.
  gitlab: { ...bodySignature("X-Gitlab-Token", "", "hex"), sign: (secret) => secret },
  mux: timeAndSignatureInOneHeader("Mux-Signature", 300),
  shopify: bodySignature("X-Shopify-Hmac-SHA256", "", "base64"),
  slack: versionedSignature("X-Slack-Signature", "X-Slack-Request-Timestamp", 300),
  stripe: timeAndSignatureInOneHeader("Stripe-Signature", 300),
  svix: standardWebhooks("svix", 300),
  zoom: versionedSignature("x-zm-signature", "x-zm-request-timestamp", SERVICE_TOLERANCE),
});

/** A platform for which `signWebhook` and `verifyWebhook` know the scheme. */
export type SignedPlatform = keyof typeof schemes;

/** The scheme of a platform. @throws Error if it is not in the list. */
export function webhookScheme(platform: string): Scheme {
  if (Object.hasOwn(schemes, platform)) return schemes[platform as SignedPlatform];
  // The message contains no unknown name, which could be a secret in the wrong place.
  const name = platformInfo(platform)?.name ?? "this platform";
  throw new Error(
    `the test kit does not know how ${name} signs; it knows ${Object.keys(schemes).join(", ")}`,
  );
}
