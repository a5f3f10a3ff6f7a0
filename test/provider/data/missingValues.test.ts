import { expect, test } from "vitest";
import { missingSecret, missingValuesIn } from "../../../provider/data/missingValues";

const found = (document: unknown) =>
  [...missingValuesIn(document)].map(({ path, isSecret, reason }) => [
    path.join("."),
    / has (.+) in it/.exec(` ${reason}`)?.[1],
    isSecret,
  ]);

test.each<[string, string, string]>([
  ["description", "undefined", "undefined"],
  ["description", "owner undefined", "undefined"],
  ["url", "https://undefined.internal", "undefined"],
  ["url", "https://a.undefined:80", "undefined"],
  ["metadata", "team:NaN", "NaN"],
  ["url", "https://null.internal", "null"],
  ["url", "https://None", "None"],
  ["url", "https://$DOMAIN.internal", "$DOMAIN"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a shell did not replace
  ["url", "https://api.${DOMAIN}/", "${DOMAIN}"],
  ["to", "https://undefined.example.com/$1", "undefined"],
  ["allow", "undefined/32", "undefined"],
  ["allow", "null/32", "null"],
  ["body", 'if (text === "[object Promise]")', "[object Promise]"],
  ["body", "[object Object]: ", "[object Object]"],
  ["content", "of {0xc000123456}", "{0xc000123456}"],
])("a missing value is found in %s: %s", (key, text, word) =>
  expect(found({ [key]: text })).toEqual([[key, word, false]]),
);

test.each([
  ["credentials", "bob:undefined"],
  ["credentials", "null:password"],
  ["credentials", "bob:None"],
  ["secret", "undefined"],
  ["secret", "changeme"],
  ["client_secret", "<your secret>"],
  ["credentials", "bob:********"],
  ["credentials", "bob:$PASSWORD"],
  ["server_private_key", "{{ key }}"],
  ["authorization", "Bearer undefined"],
  ["x-api-key", "NaN"],
  ["url", "https://bob:undefined@example.com"],
  ["url", "https://bob:null@example.com"],
])("in %s, %s is an error", (key, text) =>
  expect(
    missingSecret({ on_http_request: [{ actions: [{ config: { [key]: [text] } }] }] })?.path.at(-2),
  ).toBe(key),
);

test.each([
  { description: "the undefined behaviour of none" },
  { description: "null is a word, and so is None" },
  { description: "NaNcy, undefinedly" },
  { body: " [object Object] " },
  { body: "owner undefined", content: "owner undefined" },
  { expressions: ["vars.a == undefined"] },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an interpolation of policies
  { url: "https://${req.host}.internal" },
  { url: "https://nullable.example.com/null-pointer" },
  { url: "https://$Domain.example.com" },
  { replacements: [{ from: "null", to: "undefined" }] },
  { credentials: ["nullable:nonesuch", "me:change-me-not"] },
  { description: "changeme" },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an interpolation of policies
  { secret: "${secrets.get('hooks', 'github')}" },
])("%j misses no value", (document) => expect(found(document)).toEqual([]));
