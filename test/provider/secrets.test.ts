import { expect, test } from "vitest";
import { maskedDocument, redacted, secretsIn } from "../../provider/secrets";

test("what stands in a policy under the name of a secret is found, at any depth", () => {
  const policy = {
    on_http_request: [
      { actions: [{ type: "verify-webhook", config: { provider: "github", secret: "hook-secret" } }] },
      { actions: [{ type: "basic-auth", config: { realm: "hooks", credentials: ["user:pass-word"] } }] },
      {
        actions: [
          { type: "oauth", config: { client_id: "public", client_secret: "oauth-secret", token: "abc" } },
        ],
      },
      {
        actions: [
          {
            type: "add-headers",
            config: { headers: { authorization: "Bearer x", "x-api-key": "of-api", accept: "*/*" } },
          },
        ],
      },
    ],
  };
  expect(secretsIn(policy).sort()).toEqual([
    "Bearer x",
    "hook-secret",
    "oauth-secret",
    "of-api",
    "user:pass-word",
  ]);
  for (const none of [undefined, null, 1, "text", [], {}]) expect(secretsIn(none)).toEqual([]);
});

test("objects below the name of a secret are judged by their own names", () => {
  const tokens = [{ type: "jwt", method: "header", name: "Authorization", prefix: "Bearer " }];
  expect(secretsIn({ type: "jwt-validation", config: { http: { tokens } } })).toEqual([]);
  const credentials = [{ user: "somebody", password: "pass-word" }, "user:word"];
  expect(secretsIn({ credentials })).toEqual(["pass-word", "user:word"]);
});

test("a text is given back without them, the longest first, also where JSON escaped them", () => {
  const secrets = secretsIn({ secret: "abcd", password: 'abcd"efgh' });
  expect(redacted('at "abcd\\"efgh": abcd"efgh and abcd are wrong', secrets)).toBe(
    'at "[secret]": [secret] and [secret] are wrong',
  );
});

test("a text is given back without them where a service in Go wrote them as JSON", () => {
  const secret = 'a<b>c&d"\u2028';
  const escaped = 'a\\u003cb\\u003ec\\u0026d\\"\\u2028';
  expect(redacted(`"${escaped}" is not "${secret}"`, [secret])).toBe('"[secret]" is not "[secret]"');
});

test("a document is shown without what stands under the name of a secret, however short, and without its copies", () => {
  const document = {
    secret: "ab",
    list: { tokens: ["abcd", 1] },
    text: "has abcdef",
    count: 3,
    "abcdef-name": true,
  };
  expect(maskedDocument(document, ["abcdef"])).toEqual({
    secret: "[secret]",
    list: { tokens: ["[secret]", "[secret]"] },
    text: "has [secret]",
    count: 3,
    "[secret]-name": true,
  });
  expect(maskedDocument("ab", [], ["config", "password", 0])).toBe("[secret]");
  expect(maskedDocument("ab", [], ["secrets", "name"])).toBe("ab");
});
