import { expect, test } from "vitest";
import { redacted, secretsIn } from "../../provider/secrets";

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
        actions: [{ type: "add-headers", config: { headers: { authorization: "Bearer x", accept: "*/*" } } }],
      },
    ],
  };
  expect(secretsIn(policy).sort()).toEqual(["Bearer x", "hook-secret", "oauth-secret", "user:pass-word"]);
  for (const none of [undefined, null, 1, "text", [], {}]) expect(secretsIn(none)).toEqual([]);
});

test("a text is given back without them, the longest first, also where JSON escaped them", () => {
  const secrets = secretsIn({ secret: "abcd", password: 'abcd"efgh' });
  expect(redacted('at "abcd\\"efgh": abcd"efgh and abcd are wrong', secrets)).toBe(
    'at "[secret]": [secret] and [secret] are wrong',
  );
});
