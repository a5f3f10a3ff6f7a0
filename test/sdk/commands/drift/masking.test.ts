import fc from "fast-check";
import { expect, test } from "vitest";
import { isMapping } from "../../../../provider/api/json";
import type { Path } from "../../../../provider/document";
import { Redaction } from "../../../../provider/redaction";
import { MASKED, secretPlaces, secretsIn } from "../../../../provider/secrets";
import { isSecretPlace, shownValue } from "../../../../sdk/commands/drift/secrets";

test("every place of a secret in a document is masked", () => {
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
      const masked = maskedPlaces(shownValue(value, new Redaction(), false)).map((path) => path.join(" "));
      const places = secretPlaces(value).map(({ path }) => path);
      expect(masked).toEqual(expect.arrayContaining(places.map((path) => path.join(" "))));
      for (const path of places) expect(isSecretPlace(value, path)).toBe(true);
    }),
  );
});

test("a document is shown without what stands under the name of a secret, however short, and without its copies", () => {
  const document = {
    secret: "ab",
    list: { tokens: ["abcd", 1] },
    text: "has abcdef",
    count: 3,
    "abcdef-name": true,
  };
  expect(shownValue(document, new Redaction(["abcdef"]), false)).toEqual({
    secret: "[secret]",
    list: { tokens: ["[secret]", "[secret]"] },
    text: "has [secret]",
    count: 3,
    "[secret]-name": true,
  });
});

test("long copies of a secret are masked in texts and as numbers, short ones are left", () => {
  const secrets = new Redaction(secretsIn({ password: 12345678, pin_token: "abc", token_ttl: 3600 }));
  const copies = { text: "12345678, abc", same: 12345678, other: 3600 };
  expect(shownValue(copies, secrets, false)).toEqual({ text: `${MASKED}, abc`, same: MASKED, other: 3600 });
});
