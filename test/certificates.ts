import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/* Certificates of version 3 in DER, because Node.js can read certificates, and cannot make any. */

/** A certificate with its key, in PEM form. */
export interface Certificate {
  cert: string;
  key: string;
}

interface Identity extends Certificate {
  name: string;
  privateKey: KeyObject;
}

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const id = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const date = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`));
const nameOf = (text: string) => sequence(der(0x31, sequence(id("550403"), der(0x0c, Buffer.from(text)))));

const ECDSA_WITH_SHA256 = sequence(id("2a8648ce3d040302"));

/** Issues a certificate for 127.0.0.1. Without an issuer, it is self-signed. */
export function issue(
  name: string,
  {
    issuer,
    address = [127, 0, 0, 1],
    expires = 2120,
  }: { issuer?: Identity; address?: number[]; expires?: number } = {},
): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = sequence(id("551d13"), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const addresses = sequence(id("551d11"), der(0x04, sequence(der(0x87, Buffer.from(address)))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    nameOf(issuer?.name ?? name),
    sequence(date(2020), date(expires)),
    nameOf(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(isAuthority, addresses)),
  );
  const signature = sign("sha256", content, issuer?.privateKey ?? privateKey);
  const whole = sequence(content, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return { name, privateKey, cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}
