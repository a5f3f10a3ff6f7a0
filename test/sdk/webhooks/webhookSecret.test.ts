import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { webhookPlatforms } from "../../../sdk";
import { areSwapped, secretProblem } from "../../../sdk/webhooks/webhookSecret";

const CANARY = "CANARY-71aa";

describe("a secret", () => {
  test.each([
    ["", /is empty/],
    [`${CANARY}\n`, /ends with a line break/],
    [`${CANARY}\r\n`, /ends with a line break/],
    [` ${CANARY}`, /begins or ends with a space/],
    [`${CANARY}\t`, /begins or ends with a space/],
    [`${CANARY}\n${CANARY}`, /control character/],
    [`${CANARY}\${x}`, /takes for an expression/],
    [`-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----`, /PEM file/],
    [`-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----\n`, /PEM file/],
  ])("that cannot be right is refused without quoting it (%#)", (secret, words) => {
    const problem = secretProblem("github", secret);
    expect(problem).toMatch(words);
    expect(problem).not.toContain(CANARY);
  });

  test("is needed by every platform", () => {
    expect(secretProblem("github", undefined)).toMatch(/missing: GitHub signs with one/);
    expect(secretProblem("somebody_new", undefined)).toMatch(/missing: the platform signs with one/);
    expect(secretProblem("sns", undefined)).toMatch(/missing: for Amazon SNS it is the account that sends/);
  });

  test("of SNS is the owner of the topic", () => {
    expect(secretProblem("sns", "123456789012")).toBeUndefined();
    for (const wrong of ["1234-5678-9012", "12345678901", "arn:aws:sns:us-east-1:123456789012:t", CANARY]) {
      expect(secretProblem("sns", wrong)).toMatch(
        /must be the account that sends, 12 digits without hyphens/,
      );
      expect(secretProblem("sns", wrong)).not.toContain(wrong);
    }
  });

  test("may be a reference to the service's vault, whatever the platform's form", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    const reference = "${secrets.get('webhooks', 'key')}";
    for (const platform of Object.keys(webhookPlatforms)) {
      expect(secretProblem(platform, reference), platform).toBeUndefined();
    }
  });

  test("of SendGrid is an ECDSA public key in base64", () => {
    const key = (publicKey: ReturnType<typeof generateKeyPairSync>["publicKey"]) =>
      (publicKey as { export: (options: object) => Buffer })
        .export({ format: "der", type: "spki" })
        .toString("base64");
    const { publicKey: ecdsa } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { publicKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    expect(secretProblem("sendgrid", key(ecdsa))).toBeUndefined();
    const garbled = [`${key(ecdsa)}!`, key(ecdsa).replace(/^..../, "$& "), key(ecdsa).slice(0, -2)];
    const longer = Buffer.concat([Buffer.from(key(ecdsa), "base64"), Buffer.from("more")]).toString("base64");
    for (const wrong of [key(rsa), "SG.aaaa.bbbb", "MFkwEwYH", "!!!!", longer, ...garbled]) {
      expect(secretProblem("sendgrid", wrong)).toMatch(/ECDSA public key in base64/);
    }
  });

  // 24 bytes, as in the example of Standard Webhooks.
  const KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const BASE64 = ["svix", "clerk", "brex", "microsoft_teams"];

  test.each(BASE64)("of %s is a key in base64, whole and of 16 bytes or more", (platform) => {
    for (const right of [
      KEY,
      `whsec_${KEY}`,
      "A".repeat(22).concat("=="),
      Buffer.alloc(64, 7).toString("base64"),
    ]) {
      expect(secretProblem(platform, right)).toBeUndefined();
    }
    for (const wrong of [
      "!!!!",
      "!".repeat(64),
      "====",
      "whsec_!!!!",
      "whsec_====",
      "WHSEC_".concat(KEY),
      `whsec_whsec_${KEY}`,
      `v1,whsec_${KEY}`,
      `"whsec_${KEY}"`,
      `whsec_ ${KEY}`,
      `${KEY.slice(0, 16)} ${KEY.slice(16)}`,
      KEY.slice(0, -1),
      KEY.slice(0, -2),
      `${KEY}=`,
      `${KEY}====${KEY}`,
      KEY.replace("P", "-"),
      KEY.replace("P", "_"),
      "c2VjcmV0",
      "whsec_c2VjcmV0",
      Buffer.alloc(15, 7).toString("base64"),
      CANARY,
    ]) {
      const problem = secretProblem(platform, wrong);
      expect(problem, wrong).toMatch(/is not what .* gives: a key in base64/);
      expect(problem).not.toContain(wrong);
    }
  });

  test("is more than blanks or a prefix, whatever the platform's form", () => {
    const blanks = [" ", "\t", "\u00a0", "\u200b"].map((blank) => blank.repeat(40));
    for (const platform of [...Object.keys(webhookPlatforms), "somebody_new"]) {
      for (const nothing of ["", ...blanks, "whsec_"]) {
        expect(secretProblem(platform, nothing), platform + JSON.stringify(nothing)).toBeTypeOf("string");
      }
    }
    expect(secretProblem("clerk", "whsec_")).toMatch(/is only the beginning of a secret/);
  });

  test("of VMware is user name and password in one", () => {
    expect(secretProblem("vmware", "user::pass::word")).toBeUndefined();
    for (const wrong of ["user:password", "::password", "user::"]) {
      expect(secretProblem("vmware", wrong)).toMatch(/username::password/);
    }
  });

  test("of Hygraph has 32 characters or more", () => {
    expect(secretProblem("graphcms", "x".repeat(32))).toBeUndefined();
    expect(secretProblem("graphcms", "x".repeat(31))).toMatch(/Hygraph takes 32 characters/);
  });
  test("that could not be kept out of messages is refused, as too short", () => {
    for (const short of ["x", "xyz"]) expect(secretProblem("github", short)).toMatch(/4 characters/);
    expect(secretProblem("github", "wxyz")).toBeUndefined();
    expect(secretProblem("vmware", "a::b")).toBeUndefined();
  });
});

test("platform and secret count as swapped where the secret is a platform, and the platform is none", () => {
  expect(areSwapped(CANARY, "github")).toBe(true);
  expect(areSwapped("github", "github")).toBe(false);
  expect(areSwapped("somebody_new", CANARY)).toBe(false);
  expect(areSwapped("somebody_new", undefined)).toBe(false);
});

test("a message about a secret does not name a platform that may be one", () => {
  for (const secret of [undefined, "", "x", "wxyz\n"]) {
    expect(secretProblem(CANARY, secret)).not.toContain(CANARY);
  }
});
