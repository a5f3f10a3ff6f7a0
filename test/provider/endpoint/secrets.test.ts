import { expect, test } from "vitest";
import { findSecrets, secretsIn } from "../../../provider/endpoint/secretSearch";

test("a policy's values with the names of secrets are found, at any depth", () => {
  const headers = { authorization: "Bearer x", "x-api-key": "of-api", accept: "*/*" };
  const configs = [
    { provider: "github", secret: "hook-secret" },
    { realm: "hooks", credentials: ["user:pass-word"] },
    { client_id: "public", client_secret: "oauth-secret", token: "abc" },
    { headers },
  ];
  const policy = { on_http_request: configs.map((config) => ({ actions: [{ type: "log", config }] })) };
  const found = ["Bearer x", "hook-secret", "oauth-secret", "of-api", "user:pass-word"];
  expect(secretsIn(policy).sort()).toEqual(found);
  for (const none of [undefined, null, 1, "text", [], {}]) expect(secretsIn(none)).toEqual([]);
});

test("an object under a name that settings also have counts as secret only by its own keys", () => {
  const tokens = [
    { type: "jwt", prefix: "Bearer " },
    { user: "somebody", password: "pass-word" },
    "user:word",
  ];
  expect(secretsIn({ config: { http: { tokens } } })).toEqual(["pass-word", "user:word"]);
});

test("every value under a name that only secrets have is secret, at any depth", () => {
  const document = {
    credentials: { bob: "hunter2", others: [{ ann: { old: [12, "letmein"] } }] },
    api_keys: [{ value: "of-api" }],
    credential_rotation: { days: "ninety" },
  };
  expect(findSecrets(document)).toEqual([
    { path: ["credentials", "bob"], secret: "hunter2" },
    { path: ["credentials", "others", 0, "ann", "old", 0], secret: 12 },
    { path: ["credentials", "others", 0, "ann", "old", 1], secret: "letmein" },
    { path: ["api_keys", 0, "value"], secret: "of-api" },
  ]);
});

test("texts and numbers of any length are secret, but only long ones are removed from other texts", () => {
  const document = { password: 12345678, pin_token: "abc", token_ttl: 3600, secret: ["", null, true] };
  expect(findSecrets(document)).toEqual([
    { path: ["password"], secret: 12345678 },
    { path: ["pin_token"], secret: "abc" },
    { path: ["token_ttl"], secret: 3600 },
    { path: ["secret", 0], secret: "" },
  ]);
  expect(secretsIn(document)).toEqual(["12345678"]);
});

test("the passwords of URLs are secret in any text, and nothing else of the URL is", () => {
  const document = {
    config: { url: "https://user:pass-word@host.example.com/path" },
    expressions: ["req.url == 'a' || x == \"amqp://:p@ss@host\", redis://u:%2Fx@h"],
    secret: "https://user:whole@host",
    none: ["https://host:8080/a@b:c@d", "https://user@host", "https://u:@h", 'https://one:1", "two@three'],
  };
  expect(findSecrets(document)).toEqual([
    { path: ["config", "url"], secret: "pass-word" },
    { path: ["expressions", 0], secret: "p@ss" },
    { path: ["expressions", 0], secret: "%2Fx" },
    { path: ["secret"], secret: "https://user:whole@host" },
  ]);
  expect(secretsIn("see https://user:pass-word@host")).toEqual(["pass-word"]);
});

test.each([
  ['{"owner_id":123456789012345678,"api_key":"of-the-api"}', "of-the-api"],
  ["on_http_request:\n  - id: 123456789012345678\n    x-api-key: of-the-api\n", "of-the-api"],
  ["PASSWORD='of-the-api'", "of-the-api"],
  ['{"id":123456789012345678,"credentials":{"bob":"of-bob"}}', undefined],
])(
  "a document that stays text is secret as a whole if it has a value under a secret's name: %j",
  (text, value) => {
    const secrets = findSecrets({ metadata: text }).map(({ path, secret }) => [path, secret]);
    const found = [["metadata"], text];
    expect(secrets).toEqual(value === undefined ? [found] : [found, [["metadata"], value]]);
    expect(findSecrets({ trafficPolicy: { body: text } })).toEqual([]);
  },
);

test("a text is not secret for a name without a value", () => {
  for (const text of ["the token", "see the password: ", "tokens are: none"])
    expect(findSecrets({ description: text })).toEqual([]);
});
