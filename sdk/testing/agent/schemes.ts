import { createHmac, randomBytes } from "node:crypto";
import { platformInfo } from "../../webhooks/platforms";
import { base64Key } from "../../webhooks/webhookSecret";

/*
 * How platforms sign their webhooks, by their own documentation. Tests compare each scheme with a published example if there
 * is one; docs/webhooks.md lists those.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** The signature in a request. */
interface Found {
  /** One of them has to be right: a platform sends several while its secret is being rotated. */
  signatures: string[];
  time?: string | undefined;
  id?: string | undefined;
}

interface Scheme {
  /** Turns a moment into the text that is sent and signed. Missing where no time is signed: then a replay verifies. */
  time?: { write: (at: Date) => string; read: (text: string) => Date; toleranceSeconds: number };
  /** The signature of a body, as text. */
  sign: (secret: string, body: Buffer, time: string, id: string) => string;
  /** The headers that carry it. */
  write: (signature: string, time: string, id: string) => Record<string, string>;
  /** No signatures where the request is not signed. */
  read: (headers: Headers) => Found;
}

type Encoding = "hex" | "base64";

function hmac(key: string | Buffer, signed: (string | Buffer)[], encoding: Encoding, algorithm = "sha256") {
  const digest = createHmac(algorithm, key);
  for (const part of signed) digest.update(part);
  return digest.digest(encoding);
}

const given = (...values: (string | undefined)[]) => values.filter((value) => value !== undefined);

/** Unix time in seconds. */
const unixTime = (toleranceSeconds: number) => ({
  write: (at: Date) => `${Math.floor(at.getTime() / 1000)}`,
  read: (text: string) => new Date(/^\d+$/.test(text) ? Number(text) * 1000 : Number.NaN),
  toleranceSeconds,
});

/** The body alone is signed, in one header: `X-Hub-Signature-256: sha256=…`. */
const ofBody = (header: string, prefix: string, encoding: Encoding, algorithm?: string): Scheme => ({
  sign: (secret, body) => prefix + hmac(secret, [body], encoding, algorithm),
  write: (signature) => ({ [header]: signature }),
  read: (headers) => ({ signatures: given(headers[header.toLowerCase()]) }),
});

/** Time and body are signed, time and signatures listed in one header: `Stripe-Signature: t=…,v1=…,v1=…`. */
const listed = (header: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time) => hmac(secret, [`${time}.`, body], "hex"),
  write: (signature, time) => ({ [header]: `t=${time},v1=${signature}` }),
  read: (headers) => {
    const parts = (headers[header.toLowerCase()] ?? "").split(",").map((part) => part.trim().split(/=(.*)/s));
    const of = (name: string) => parts.flatMap(([key, value = ""]) => (key === name ? [value] : []));
    return { signatures: of("v1"), time: of("t")[0] };
  },
});

/** Version, time and body are signed, with a header for the time: `X-Slack-Signature: v0=…`. */
const versioned = (header: string, timeHeader: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time) => `v0=${hmac(secret, [`v0:${time}:`, body], "hex")}`,
  write: (signature, time) => ({ [header]: signature, [timeHeader]: time }),
  read: (headers) => ({
    signatures: given(headers[header.toLowerCase()]),
    time: headers[timeHeader.toLowerCase()],
  }),
});

/** Identifier, time and body are signed, as Standard Webhooks has it, with a key that is base64 behind `whsec_`. */
const standard = (prefix: string, toleranceSeconds: number): Scheme => ({
  time: unixTime(toleranceSeconds),
  sign: (secret, body, time, id) => {
    // Invalid secrets were refused before. A random key would never verify.
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

/** Where a platform documents no tolerance, the service's own is 180 seconds. */
const SERVICE_TOLERANCE = 180;

/** Without the type of each scheme, which declarations would spell out. */
const byPlatform = <Name extends string>(schemes: Record<Name, Scheme>) => schemes;

export const schemes = byPlatform({
  autodesk: ofBody("x-adsk-signature", "sha1hash=", "hex", "sha1"),
  bitbucket: ofBody("X-Hub-Signature", "sha256=", "hex"),
  box: {
    time: { write: (at) => at.toISOString(), read: (text) => new Date(text), toleranceSeconds: 600 },
    sign: (secret, body, time) => hmac(secret, [body, time], "base64"),
    write: (signature, time) => ({ "BOX-SIGNATURE-PRIMARY": signature, "BOX-DELIVERY-TIMESTAMP": time }),
    read: (headers) => ({
      signatures: given(headers["box-signature-primary"], headers["box-signature-secondary"]),
      time: headers["box-delivery-timestamp"],
    }),
  },
  // Known: the names of the headers, that there are two signatures during a rotation. Not confirmed by a published
  // example: that the text is put together as Svix does it, and that a secret is base64 behind an optional `whsec_`.
  brex: standard("Webhook", SERVICE_TOLERANCE),
  calendly: listed("Calendly-Webhook-Signature", 180),
  circleci: ofBody("circleci-signature", "v1=", "hex"),
  clerk: standard("svix", 300),
  github: ofBody("X-Hub-Signature-256", "sha256=", "hex"),
  // Nothing is signed: the secret itself travels, so a changed body or a replay cannot be detected.
  gitlab: { ...ofBody("X-Gitlab-Token", "", "hex"), sign: (secret) => secret },
  mux: listed("Mux-Signature", 300),
  shopify: ofBody("X-Shopify-Hmac-SHA256", "", "base64"),
  slack: versioned("X-Slack-Signature", "X-Slack-Request-Timestamp", 300),
  stripe: listed("Stripe-Signature", 300),
  svix: standard("svix", 300),
  zoom: versioned("x-zm-signature", "x-zm-request-timestamp", SERVICE_TOLERANCE),
});

/** A platform whose scheme the test kit knows. */
export type SignedPlatform = keyof typeof schemes;

/** Throws for a platform whose scheme is not known; unless it is in the catalogue, its name may be a secret. */
export function webhookScheme(platform: string): Scheme {
  if (Object.hasOwn(schemes, platform)) return schemes[platform as SignedPlatform];
  const name = platformInfo(platform)?.name ?? "this platform";
  throw new Error(
    `the test kit does not know how ${name} signs; it knows ${Object.keys(schemes).join(", ")}`,
  );
}
