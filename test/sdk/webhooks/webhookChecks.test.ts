import { generateKeyPairSync } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { webhookPlatforms } from "../../../sdk";
import { areSwapped, secretProblem } from "../../../sdk/webhooks/webhookChecks";

const CANARY = "CANARY-71aa";

describe("secretProblem", () => {
  test.each([
    ["", /is empty/],
    [`${CANARY}\n`, /ends with a line break/],
    [`${CANARY}\r\n`, /ends with a line break/],
    [` ${CANARY}`, /begins or ends with a space/],
    [`${CANARY}\t`, /begins or ends with a space/],
    [`${CANARY}\n${CANARY}`, /control character/],
    [`${CANARY}\${x}`, /starts an expression/],
    [`-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----`, /PEM file/],
    [`-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----\n`, /PEM file/],
    [`${CANARY}${pulumi.output(1)}`, /an output used as text; .*pulumi\.interpolate/],
    [`${CANARY}${Promise.resolve()}`, /a promise used as text, .*await/],
    [`${undefined}`, /is the word undefined/],
  ])("refuses a secret that cannot be valid, without quoting it (case %#)", (secret, words) => {
    const problem = secretProblem("github", secret);
    expect(problem).toMatch(words);
    expect(problem).not.toContain(CANARY);
  });

  test("refuses a missing secret for every platform", () => {
    expect(secretProblem("github", undefined)).toMatch(/missing: GitHub signs with one/);
    expect(secretProblem("somebody_new", undefined)).toMatch(/missing: the platform signs with one/);
    expect(secretProblem("sns", undefined)).toMatch(/missing: for Amazon SNS it is the sending account/);
  });

  test("for SNS, accepts an account number only", () => {
    expect(secretProblem("sns", "123456789012")).toBeUndefined();
    for (const wrong of ["1234-5678-9012", "12345678901", "arn:aws:sns:us-east-1:123456789012:t", CANARY]) {
      expect(secretProblem("sns", wrong)).toMatch(/must be the sending account, 12 digits without hyphens/);
      expect(secretProblem("sns", wrong)).not.toContain(wrong);
    }
  });

  test("accepts a reference to the service's vault for every platform", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
    const reference = "${secrets.get('webhooks', 'key')}";
    for (const platform of Object.keys(webhookPlatforms)) {
      expect(secretProblem(platform, reference), platform).toBeUndefined();
    }
  });

  test("for SendGrid, accepts an ECDSA public key in base64 only", () => {
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

  // Has 24 bytes, as the example of Standard Webhooks has.
  const KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const BASE64 = ["svix", "clerk", "brex", "microsoft_teams"];

  test.each(BASE64)("for %s, accepts a key in base64 of at least 16 bytes only", (platform) => {
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
      expect(problem, wrong).toMatch(/is not a key of .*: a key of at least/);
      expect(problem).not.toContain(wrong);
    }
  });

  test("refuses blanks and a prefix alone for every platform", () => {
    const blanks = [" ", "\t", "\u00a0", "\u200b"].map((blank) => blank.repeat(40));
    for (const platform of [...Object.keys(webhookPlatforms), "somebody_new"]) {
      for (const nothing of ["", ...blanks, "whsec_"]) {
        expect(secretProblem(platform, nothing), platform + JSON.stringify(nothing)).toBeTypeOf("string");
      }
    }
    expect(secretProblem("clerk", "whsec_")).toMatch(/is only the beginning of a secret/);
  });

  test("for VMware, accepts a user name and a password only", () => {
    expect(secretProblem("vmware", "user::pass::word")).toBeUndefined();
    for (const wrong of ["user:password", "::password", "user::"]) {
      expect(secretProblem("vmware", wrong)).toMatch(/username::password/);
    }
  });

  test("for Hygraph, accepts at least 32 characters only", () => {
    expect(secretProblem("graphcms", "x".repeat(32))).toBeUndefined();
    expect(secretProblem("graphcms", "x".repeat(31))).toMatch(/Hygraph takes 32 characters/);
  });

  test("refuses a secret of less than 4 characters, which could not be masked in messages", () => {
    for (const short of ["x", "xyz"]) expect(secretProblem("github", short)).toMatch(/4 characters/);
    expect(secretProblem("github", "wxyz")).toBeUndefined();
    expect(secretProblem("vmware", "a::b")).toBeUndefined();
  });
});

test("areSwapped is true if the secret is a known platform and the platform is not", () => {
  expect(areSwapped(CANARY, "github")).toBe(true);
  expect(areSwapped("github", "github")).toBe(false);
  expect(areSwapped("somebody_new", CANARY)).toBe(false);
  expect(areSwapped("somebody_new", undefined)).toBe(false);
});

test("a message about a secret does not name an unknown platform, which may be a secret itself", () => {
  for (const secret of [undefined, "", "x", "wxyz\n"]) {
    expect(secretProblem(CANARY, secret)).not.toContain(CANARY);
  }
});
