import { generateKeyPairSync, type KeyObject } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { webhookPlatforms } from "../../../sdk";
import { areSwapped, secretMistake } from "../../../sdk/webhooks/webhookChecks";

const CANARY = "CANARY-71aa";

const base64 = (key: KeyObject) => key.export({ format: "der", type: "spki" }).toString("base64");
const ecdsa = base64(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey);
const rsa = base64(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey);
const longer = Buffer.concat([Buffer.from(ecdsa, "base64"), Buffer.from("more")]).toString("base64");
const pem = `-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----`;

// Has 24 bytes, as the example of Standard Webhooks has.
const KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const bytes = (count: number) => Buffer.alloc(count, 7).toString("base64");
const noKeys = [
  ...["!!!!", "!".repeat(64), "====", "whsec_!!!!", "whsec_====", `WHSEC_${KEY}`, `whsec_whsec_${KEY}`],
  ...[`"whsec_${KEY}"`, `whsec_ ${KEY}`, `${KEY.slice(0, 16)} ${KEY.slice(16)}`],
  ...[KEY.slice(0, -1), KEY.slice(0, -2), `${KEY}=`, `${KEY}====${KEY}`, KEY.replace("P", "-")],
  ...[KEY.replace("P", "_"), "c2VjcmV0", "whsec_c2VjcmV0", bytes(15), CANARY],
];
const arn = "arn:aws:sns:us-east-1:123456789012:t";

// biome-ignore format: one line for each kind of secret
test.each<[platform: string, what: string, secrets: (string | undefined)[], RegExp | undefined]>([
  ["github", "no secret", [undefined], /missing: GitHub signs with one/],
  ["sns", "no secret", [undefined], /missing: for Amazon SNS it is the sending account/],
  ["github", "an empty text", [""], /is empty/],
  ["github", "a line break at the end", [`${CANARY}\n`, `${CANARY}\r\n`], /ends with a line break/],
  ["github", "a space at an end", [` ${CANARY}`, `${CANARY}\t`], /begins or ends with a space/],
  ["github", "a control character", [`${CANARY}\n${CANARY}`], /control character/],
  ["github", "an expression", [`${CANARY}\${x}`], /starts an expression/],
  ["github", "a PEM file", [pem, `${pem}\n`], /PEM file/],
  ["github", "an output used as text", [`${CANARY}${pulumi.output(1)}`], /an output used as text; .*pulumi\.interpolate/],
  ["github", "a placeholder", ["changeme", "CHANGE_ME", "********", "••••", "[secret]"], /is a placeholder, which anybody can guess/],
  ["github", "a reference that nothing has filled in", ["$SLACK_TOKEN", "{your secret}", "<YOUR_SECRET>", "%GITHUB_SECRET%", "$(cat x.txt)", "{{ .Values.secret }}", "op://vault/item/field", "ref+vault://a/b#c"], /is a placeholder, which anybody can guess/],
  ["github", "a secret with such characters", ["$2b$10$abcdefghij", "a<b>cdefgh", "{abcdefgh", "100%abcdef", "%a%b%cdefg"], undefined],
  ["brex", "the secret with its version", [`v1,whsec_${KEY}`], /leave out `v1,`/],
  ["github", "a word with one in it", ["changeme-1", "x[secret]", "a***"], undefined],
  ["github", "what a missing value leaves", [`${undefined}`, `key:${undefined}`, `${Number.NaN}`, "null", "None"], /has (undefined|NaN|null|None) in it, as programs write for a value that is missing/],
  ["github", "a text that is too short to be masked", ["x", "xyz"], /4 characters/],
  ["sns", "an account number", ["123456789012"], undefined],
  ["sns", "no account number", ["1234-5678-9012", "12345678901", arn, CANARY], /must be the sending account, 12 digits without hyphens/],
  ["sendgrid", "an ECDSA public key in base64", [ecdsa], undefined],
  ["sendgrid", "another key", [rsa, "SG.aaaa.bbbb", "MFkwEwYH", "!!!!", longer, `${ecdsa}!`, ecdsa.replace(/^..../, "$& "), ecdsa.slice(0, -2)], /ECDSA public key in base64/],
  ...["svix", "clerk", "brex", "microsoft_teams"].flatMap((platform): [string, string, string[], RegExp | undefined][] => [
    [platform, "a key in base64 of at least 16 bytes", [KEY, `whsec_${KEY}`, bytes(16), bytes(64)], undefined],
    [platform, "no such key", noKeys, /is not a key of .*: a key of at least/],
  ]),
  ["vmware", "a user name and a password", ["user::pass::word", "a::b"], undefined],
  ["vmware", "no user name or no password", ["user:password", "::password", "user::"], /username::password/],
  ["graphcms", "fewer characters", ["x".repeat(31)], /Hygraph takes 32 characters/],
])("%s: %s is accepted, or refused without quoting it", (platform, _, secrets, problem) => {
  for (const secret of secrets) {
    const found = secretMistake(platform, secret);
    if (problem) expect(found, secret).toMatch(problem);
    else expect(found, secret).toBeUndefined();
    if (secret && secret.length > 10) expect(found ?? "").not.toContain(secret);
    expect(found ?? "").not.toContain("CANARY");
  }
});

test("every platform accepts a reference to the service's vault, and refuses blanks and a prefix alone", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
  const reference = "${secrets.get('webhooks', 'key')}";
  const blanks = [" ", "\t", "\u00a0", "\u200b"].map((blank) => blank.repeat(40));
  for (const platform of [...Object.keys(webhookPlatforms), "somebody_new"]) {
    expect(secretMistake(platform, reference), platform).toBeUndefined();
    for (const nothing of ["", ...blanks, "whsec_"])
      expect(secretMistake(platform, nothing), platform + JSON.stringify(nothing)).toBeTypeOf("string");
  }
});

test.each<[string, string | undefined, boolean]>([
  [CANARY, "github", true],
  ["github", "github", false],
  ["somebody_new", CANARY, false],
])("the platform %s and the secret %s are swapped: %s", (platform, secret, areThey) => {
  expect(areSwapped(platform, secret)).toBe(areThey);
});

test("a message about a secret does not name an unknown platform, which may be a secret itself", () => {
  for (const secret of [undefined, "", "x", "wxyz\n"])
    expect(secretMistake(CANARY, secret)).not.toContain(CANARY);
});
