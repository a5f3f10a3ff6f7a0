import { createHmac, randomBytes } from "node:crypto";
import { base64Key } from "../../../webhookSecret";

/*
 * How platforms sign their webhooks. Each scheme is the platform's own documentation's; the tests hold those against a
 * published example for which there is one, and docs/webhooks.md says which.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** What a request says of its signature. */
export interface Found {
  /** One of them has to be right: a platform sends several while its secret is being rotated. */
  signatures: string[];
  /** As it was sent; empty where none is sent. */
  time: string;
  id: string;
}

export interface Scheme {
  /** Turns a moment into the text that is sent and signed. Missing where no time is signed: then a replay verifies. */
  time?: { write: (at: Date) => string; read: (text: string) => Date; toleranceSeconds: number };
  /** The signature of a body, as text. */
  sign: (secret: string, body: Buffer, time: string, id: string) => string;
  /** The headers that carry it. */
  write: (signature: string, time: string, id: string) => Record<string, string>;
  /** Undefined where the request is not signed. */
  read: (headers: Headers) => Found | undefined;
  /** The answer to a challenge of the platform; undefined for every other body. */
  challenge?: (secret: string, body: Buffer) => string | undefined;
}

export const isSigned = (platform: string): platform is SignedPlatform => Object.hasOwn(schemes, platform);

/** Throws for a platform whose scheme is not known. */
export function webhookScheme(platform: string): Scheme {
  if (isSigned(platform)) return schemes[platform];
  throw new Error(`the kit does not know how ${platform} signs; it knows ${Object.keys(schemes).join(", ")}`);
}

type Encoding = "hex" | "base64";

const hmac = (
  key: string | Buffer,
  signed: (string | Buffer)[],
  encoding: Encoding,
  algorithm = "sha256",
) => {
  const digest = createHmac(algorithm, key);
  for (const part of signed) digest.update(part);
  return digest.digest(encoding);
};

/** Unix time in seconds. */
const unixTime = (toleranceSeconds: number) => ({
  write: (at: Date) => `${Math.floor(at.getTime() / 1000)}`,
  read: (text: string) => new Date(/^\d+$/.test(text) ? Number(text) * 1000 : Number.NaN),
  toleranceSeconds,
});

/** The body alone is signed, in one header: `X-Hub-Signature-256: sha256=…`. */
function ofBody(header: string, prefix: string, encoding: Encoding, algorithm?: string): Scheme {
  return {
    sign: (secret, body) => prefix + hmac(secret, [body], encoding, algorithm),
    write: (signature) => ({ [header]: signature }),
    read: (headers) => whole(headers[header.toLowerCase()]),
  };
}

const whole = (value: string | undefined) =>
  value === undefined ? undefined : { signatures: [value], time: "", id: "" };

/** Time and body are signed, time and signatures listed in one header: `Stripe-Signature: t=…,v1=…,v1=…`. */
function listed(header: string, toleranceSeconds: number): Scheme {
  return {
    time: unixTime(toleranceSeconds),
    sign: (secret, body, time) => hmac(secret, [`${time}.`, body], "hex"),
    write: (signature, time) => ({ [header]: `t=${time},v1=${signature}` }),
    read: (headers) => {
      const value = headers[header.toLowerCase()];
      if (value === undefined) return undefined;
      const parts = value.split(",").map((part) => part.trim());
      const of = (name: string) =>
        parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
      return { signatures: of("v1"), time: of("t")[0] ?? "", id: "" };
    },
  };
}

/** Version, time and body are signed, with a header for the time: `X-Slack-Signature: v0=…`. */
function versioned(header: string, timeHeader: string, toleranceSeconds: number): Scheme {
  return {
    time: unixTime(toleranceSeconds),
    sign: (secret, body, time) => `v0=${hmac(secret, [`v0:${time}:`, body], "hex")}`,
    write: (signature, time) => ({ [header]: signature, [timeHeader]: time }),
    read: (headers) => {
      const found = whole(headers[header.toLowerCase()]);
      return found && { ...found, time: headers[timeHeader.toLowerCase()] ?? "" };
    },
  };
}

/** Identifier, time and body are signed, as Standard Webhooks has it, with a key that is base64 behind `whsec_`. */
function standard(prefix: string, toleranceSeconds: number): Scheme {
  // What is no key is refused at the start; a random one makes sure that nobody could sign with it.
  const key = (secret: string) => base64Key(secret) ?? randomBytes(32);
  return {
    time: unixTime(toleranceSeconds),
    sign: (secret, body, time, id) => `v1,${hmac(key(secret), [`${id}.${time}.`, body], "base64")}`,
    write: (signature, time, id) => ({
      [`${prefix}-Id`]: id,
      [`${prefix}-Timestamp`]: time,
      [`${prefix}-Signature`]: signature,
    }),
    read: (headers) => {
      const of = (name: string) => headers[`${prefix}-${name}`.toLowerCase()];
      const signatures = of("Signature");
      if (signatures === undefined) return undefined;
      return { signatures: signatures.split(" "), time: of("Timestamp") ?? "", id: of("Id") ?? "" };
    },
  };
}

/** Where a platform documents no tolerance, the service's own is 180 seconds. */
const SERVICE_TOLERANCE = 180;

export const schemes = {
  autodesk: ofBody("x-adsk-signature", "sha1hash=", "hex", "sha1"),
  bitbucket: ofBody("X-Hub-Signature", "sha256=", "hex"),
  box: {
    time: { write: (at) => at.toISOString(), read: (text) => new Date(text), toleranceSeconds: 600 },
    sign: (secret, body, time) => hmac(secret, [body, time], "base64"),
    write: (signature, time) => ({ "BOX-SIGNATURE-PRIMARY": signature, "BOX-DELIVERY-TIMESTAMP": time }),
    read: (headers) => {
      const both = [headers["box-signature-primary"], headers["box-signature-secondary"]];
      const signatures = both.filter((signature) => signature !== undefined);
      if (signatures.length === 0) return undefined;
      return { signatures, time: headers["box-delivery-timestamp"] ?? "", id: "" };
    },
  },
  // Known: the names of the headers, that there are two signatures during a rotation. Not confirmed by a published
  // example: that the text is put together as Svix does it, and that a secret is base64 behind an optional `whsec_`.
  brex: standard("Webhook", SERVICE_TOLERANCE),
  calendly: listed("Calendly-Webhook-Signature", 180),
  circleci: ofBody("circleci-signature", "v1=", "hex"),
  clerk: standard("svix", 300),
  github: ofBody("X-Hub-Signature-256", "sha256=", "hex"),
  // Nothing is signed: the secret itself travels, so a changed body or a replay cannot be told.
  gitlab: {
    sign: (secret) => secret,
    write: (signature) => ({ "X-Gitlab-Token": signature }),
    read: (headers) => whole(headers["x-gitlab-token"]),
  },
  mux: listed("Mux-Signature", 300),
  shopify: ofBody("X-Shopify-Hmac-SHA256", "", "base64"),
  slack: versioned("X-Slack-Signature", "X-Slack-Request-Timestamp", 300),
  stripe: listed("Stripe-Signature", 300),
  svix: standard("svix", 300),
  zoom: {
    ...versioned("x-zm-signature", "x-zm-request-timestamp", SERVICE_TOLERANCE),
    challenge: zoomChallenge,
  },
} satisfies Record<string, Scheme>;

/** Zoom asks a new address, and every address again from time to time, to sign a token. */
function zoomChallenge(secret: string, body: Buffer): string | undefined {
  try {
    const { event, payload } = JSON.parse(body.toString("utf8"));
    if (event !== "endpoint.url_validation" || typeof payload?.plainToken !== "string") return undefined;
    const { plainToken } = payload;
    return JSON.stringify({ plainToken, encryptedToken: hmac(secret, [plainToken], "hex") });
  } catch {
    return undefined;
  }
}

/** A platform whose scheme the kit knows. */
export type SignedPlatform = keyof typeof schemes;
