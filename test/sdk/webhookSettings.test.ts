import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkField, secretProblem, unknownField, type WebhookField } from "../../sdk/webhookSettings";

const CANARY = "CANARY-71aa";
const problems = (field: WebhookField, value: unknown) => {
  const result = checkField(field, value);
  return "problems" in result ? result.problems.join("; ") : undefined;
};

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
  ])("that cannot be right is told in words that never quote it (%#)", (secret, words) => {
    const problem = secretProblem("github", secret);
    expect(problem).toMatch(words);
    expect(problem).not.toContain(CANARY);
  });

  test("is needed by every platform but SNS", () => {
    expect(secretProblem("github", undefined)).toMatch(/missing: GitHub signs with one/);
    expect(secretProblem("somebody_new", undefined)).toMatch(/missing: somebody_new/);
    expect(secretProblem("sns", undefined)).toBeUndefined();
    expect(secretProblem("sns", "123456789012")).toBeUndefined();
  });

  test("may be a reference to the service's vault, whatever the platform's form", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    expect(secretProblem("sendgrid", "${secrets.get('webhooks', 'sendgrid')}")).toBeUndefined();
  });

  test("of SendGrid is an ECDSA public key in base64", () => {
    const key = (publicKey: ReturnType<typeof generateKeyPairSync>["publicKey"]) =>
      (publicKey as { export: (options: object) => Buffer })
        .export({ format: "der", type: "spki" })
        .toString("base64");
    const { publicKey: ecdsa } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { publicKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    expect(secretProblem("sendgrid", key(ecdsa))).toBeUndefined();
    for (const wrong of [key(rsa), "SG.aaaa.bbbb", "MFkwEwYH"]) {
      expect(secretProblem("sendgrid", wrong)).toMatch(/ECDSA public key in base64/);
    }
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
});

describe("other inputs", () => {
  test.each<[WebhookField, unknown, RegExp]>([
    ["platform", undefined, /^platform is missing/],
    ["platform", "", /^platform must not be empty/],
    ["platform", 7, /^platform must be text/],
    ["secret", 7, /^secret must be text/],
    ["enforce", "no", /^enforce must be true or false/],
    ["expressions", [], /^expressions must hold an expression/],
    ["expressions", "req.method == 'POST'", /^expressions must be a list/],
    ["agent", {}, /^agent.upstream .*must be a port/],
    ["agent", { upstream: 0 }, /^agent.upstream must be a port from 1 to 65535, or a URL/],
    ["agent", { upstream: 70_000 }, /^agent.upstream must be/],
    ["agent", { upstream: "localhost:8080" }, /^agent.upstream must be .* http:\/\/localhost:8080/],
    ["agent", { upstream: "ftp://files" }, /^agent.upstream must be/],
    ["agent", { upstream: 80, url: "tcp://a.example.com:1" }, /^agent.url must be of http or https/],
    ["agent", { upstream: 80, url: "https://a.example.com/path" }, /^agent.url has a path/],
    ["agent", { upstream: 80, adress: "x" }, /^agent must hold an upstream/],
    ["agentConfigVersion", 4, /^agentConfigVersion must be 2 or 3/],
    ["expectedDeliveriesPerMonth", -1, /must not be negative/],
    ["plan", "gold", /^plan must be free, pro or enterprise/],
  ])("%s: %j is told by name", (field, value, words) => {
    expect(problems(field, value)).toMatch(words);
  });

  test.each<[WebhookField, unknown, unknown]>([
    ["agent", { upstream: "8080" }, { upstream: 8080 }],
    ["agent", { upstream: "http://localhost:80" }, { upstream: "http://localhost:80" }],
    [
      "agent",
      { upstream: 80, url: "HTTPS://A.Example.com:443/" },
      { upstream: 80, url: "https://a.example.com" },
    ],
    ["agentConfigVersion", undefined, undefined],
    ["platform", "somebody_new", "somebody_new"],
  ])("%s: %j is taken", (field, value, taken) => {
    expect(checkField(field, value)).toEqual({ value: taken });
  });

  test("that there are none of are told, with what was meant", () => {
    expect(unknownField("provider")).toMatch(/did you mean platform/);
    expect(unknownField("toString")).toMatch(/the inputs are platform, secret/);
    expect(unknownField("secret")).toBeUndefined();
  });
});
