import fc from "fast-check";
import { expect, test } from "vitest";
import { isMapping } from "../../../provider/api/json";
import type { Path } from "../../../provider/endpoint/documents";
import { findSecrets, MASKED } from "../../../provider/endpoint/secrets";
import { masking } from "../../../sdk/commands/drift/compare";

test("every value below a key that names a secret is masked, in any document", () => {
  const names = ["secret", "api_keys", "x-token", "credentials", "authorization", "config", "name"];
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom("", "a", "text", 0, 12345678, true, null),
      fc.array(tie("document"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie("document"), { maxKeys: 4, noNullPrototype: true }),
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
      const masked = maskedPlaces(masking([], new Set()).values(value)).map((path) => path.join(" "));
      const places = findSecrets(value).map(({ path }) => path);
      expect(masked).toEqual(expect.arrayContaining(places.map((path) => path.join(" "))));
    }),
  );
});

test("passwords of URLs and exact copies of secrets are masked in texts, keys and numbers, unless very short", () => {
  const document = {
    ...{ url: "https://u:ab@h", list: ["redis://u:long-password@h"], note: "ab, long-password" },
    ...{ secret: "ab", text: "has abcdef and 12345678, ab", same: 12345678, other: 3600 },
    "abcdef-name": true,
  };
  const metadata = { ...document, password: [12345678, "abcdef"], token_ttl: 3600 };
  expect(masking([{ metadata }], new Set()).values(document)).toEqual({
    ...{ url: `https://u:${MASKED}@h`, list: [`redis://u:${MASKED}@h`], note: `ab, ${MASKED}` },
    ...{ secret: MASKED, text: `has ${MASKED} and ${MASKED}, ab`, same: MASKED, other: 3600 },
    [`${MASKED}-name`]: true,
  });
});
