import fc from "fast-check";
import { expect, test } from "vitest";
import { isMapping } from "../../../provider/api/json";
import type { Path } from "../../../provider/endpoint/documents";
import { findSecrets, MASKED, secretsIn } from "../../../provider/endpoint/secrets";
import { maskedValue, placeIn } from "../../../sdk/commands/drift/compare";
import { drift } from "./driftRun";
import { changesOf, fakeStack, secret } from "./stacks";

test("every value below a key that names a secret is masked, in any document", () => {
  const name = fc.constantFrom(
    "secret",
    "api_keys",
    "x-token",
    "credentials",
    "authorization",
    "config",
    "name",
  );
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom("", "a", "text", 0, 12345678, true, null),
      fc.array(tie("document"), { maxLength: 3 }),
      fc.dictionary(name, tie("document"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const maskedPlaces = (value: unknown, path: Path = []): Path[] => {
    if (value === MASKED) return [path];
    if (Array.isArray(value)) return value.flatMap((item, index) => maskedPlaces(item, [...path, index]));
    return isMapping(value)
      ? Object.entries(value).flatMap(([key, item]) => maskedPlaces(item, [...path, key]))
      : [];
  };
  fc.assert(
    fc.property(document, (value) => {
      const masked = maskedPlaces(maskedValue(value, [], { isSecret: false })).map((path) => path.join(" "));
      const places = findSecrets(value).map(({ path }) => path);
      expect(masked).toEqual(expect.arrayContaining(places.map((path) => path.join(" "))));
      for (const path of places) expect(placeIn(value, path).isSecret).toBe(true);
    }),
  );
});

test("the passwords of URLs are masked, also very short ones, and their copies elsewhere", () => {
  const document = { url: "https://u:ab@h", list: ["redis://u:long-password@h"], note: "ab, long-password" };
  expect(maskedValue(document, secretsIn(document), { isSecret: false })).toEqual({
    url: `https://u:${MASKED}@h`,
    list: [`redis://u:${MASKED}@h`],
    note: `ab, ${MASKED}`,
  });
});

test("exact copies of a secret are masked in texts, keys and numbers, unless the secret is very short", () => {
  const document = {
    secret: "ab",
    list: { tokens: ["abcd", 1] },
    text: "has abcdef and 12345678, ab",
    same: 12345678,
    other: 3600,
    "abcdef-name": true,
  };
  const secrets = ["abcdef", ...secretsIn({ password: 12345678, token_ttl: 3600, pin_token: "ab" })];
  expect(maskedValue(document, secrets, { isSecret: false })).toEqual({
    secret: MASKED,
    list: { tokens: [MASKED, MASKED] },
    text: `has ${MASKED} and ${MASKED}, ab`,
    same: MASKED,
    other: 3600,
    [`${MASKED}-name`]: true,
  });
});

test("a report never contains a secret's old or new value, a copy of it, or an invalid policy", async () => {
  const policy = (config: object) => ({ on_http_request: [{ actions: [{ type: "oauth", config }] }] });
  const ended = await drift([
    fakeStack([
      {
        name: "a",
        inputs: {
          trafficPolicy: policy({ client_secret: "CANARY-1", pin: { password: "ü1" }, api_key: 77 }),
        },
        live: {
          trafficPolicy: policy({
            client_secret: "CANARY-2",
            pin: { password: "ü2" },
            api_key: 88,
            more: "CANARY-2!",
          }),
          description: "it is CANARY-1",
        },
      },
      {
        name: "b",
        inputs: { trafficPolicy: policy({ client_secret: "CANARY-3" }) },
        live: { trafficPolicy: "client_secret: CANARY-4: x" },
      },
      {
        name: "c",
        inputs: {
          trafficPolicy: secret(policy({ some: "CANARY-5" })),
          url: secret("https://CANARY-6.example.com"),
        },
        live: { trafficPolicy: policy({ some: "CANARY-7" }), url: "https://CANARY-8.example.com" },
      },
    ]),
  ]);
  const at = "trafficPolicy.on_http_request[0].actions[0].config";
  expect(changesOf(ended)).toEqual([
    ["description", undefined, "it is [secret]"],
    [`${at}.api_key`, "[secret]", "[secret]"],
    [`${at}.client_secret`, "[secret]", "[secret]"],
    [`${at}.more`, undefined, "[secret]!"],
    [`${at}.pin.password`, "[secret]", "[secret]"],
    ["trafficPolicy", expect.anything(), "[text that is no policy]"],
    ["url", "[secret]", "[secret]"],
    [`${at}.some`, "[secret]", "[secret]"],
  ]);
  expect(JSON.stringify(ended)).not.toMatch(/CANARY|ü1|ü2|https:..c\./);
});

test("a report never contains a value that the state keeps secret, or whose name or sibling names a secret", async () => {
  const ended = await drift([
    fakeStack([
      {
        name: "a",
        inputs: {
          url: "https://canary-state.example.com",
          trafficPolicy: secret({ some: "canary-state", short: "word" }),
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP" } },
            headers: [{ name: "Authorization", value: "Bearer CANARY-PAIR" }],
            word: "a word",
          },
        },
        live: {
          trafficPolicy: { some: "canary-state", short: "else" },
          description: "canary-state, CANARY-DEEP, Bearer CANARY-PAIR",
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP2" }, amy: { pass: 123456 } },
            headers: [
              { name: "Authorization", value: "Bearer CANARY-PAIR2" },
              { key: "token", value: "x-1" },
            ],
            word: "word",
            copy: "canary-state",
          },
        },
      },
    ]),
  ]);
  expect(changesOf(ended)).toEqual(
    expect.arrayContaining([
      ["description", undefined, "[secret], [secret], [secret]"],
      ["metadata.credentials.bob.pass", "[secret]", "[secret]"],
      ["metadata.credentials.amy", undefined, { pass: "[secret]" }],
      ["metadata.headers[0].value", "[secret]", "[secret]"],
      ["metadata.headers[1]", undefined, { key: "token", value: "[secret]" }],
      ["metadata.word", "a word", "word"],
      ["metadata.copy", undefined, "[secret]"],
    ]),
  );
  expect(JSON.stringify(ended)).not.toMatch(/canary|123456|x-1/i);
});

test("copies from a secret field are masked from 8 characters on, longest first, and names of fields are not", async () => {
  const ended = await drift([
    fakeStack([
      {
        name: "a",
        inputs: {
          trafficPolicy: secret({ pin: "hun2", long: "CANARY-1-2", longer: "CANARY-1-2-3" }),
          __secrets: ["trafficPolicy"],
        },
        live: {
          description: "hun2, CANARY-1-2-3 of the trafficPolicy, CANARY-1-2",
        },
      },
    ]),
  ]);
  expect(changesOf(ended)).toEqual([
    ["description", undefined, "hun2, [secret] of the trafficPolicy, [secret]"],
  ]);
});
