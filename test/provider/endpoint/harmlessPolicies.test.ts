import fc from "fast-check";
import { expect, test } from "vitest";
import { checkInputs } from "../../../provider/endpoint/inputs";
import { findSecrets } from "../../../provider/endpoint/secretSearch";
import {
  act,
  onRequest,
  onResponse,
  rightPolicies,
  rule,
} from "../../../sdk/traffic-policy/test/policy/cases";

/** What pages and scripts contain, and what elsewhere would be a missing value or a secret. */
const FRAGMENTS = [
  ...["[object Object]", "[object Promise]", "[object Date]", "{0x1234567890}", "undefined", "null", "None"],
  ...[
    "***",
    "changeme",
    "<password>",
    "$CLIENT_SECRET",
    "password: x",
    '"token": "y"',
    "https://",
    "bob:NaN",
  ],
  ...['String(a) === "', '" || ', "\n", " ", "on a Promise"],
];

/** A text that is no stand-in as a whole, and has no URL with a password. */
const text = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string()))
  .map((all) => all.join("").replaceAll("@", "a"))
  .filter((text) => !/^(\[object [\w$ .-]+\]|\{0x[\da-f]{9,16}\})$/i.test(text.trim()));

/** Policies with this text in each place that holds a page. */
const pages = (text: string) => {
  const replacements = [{ from: text, to: text }];
  const answers = [act("custom-response", { body: text }), act("custom-response", { content: text })];
  const request = act("http-request", { url: "https://a.example.com", body: text });
  return {
    ...onRequest(rule(request, act("request-body-find-replace", { replacements }), ...answers)),
    ...onResponse(rule(act("response-body-find-replace", { replacements }), ...answers)),
  };
};

const SECRET_KEYS = ["credentials", "client_secret", "server_private_key", "secret"];

test("no text within a body, and no ordinary value of a key, stops a deployment or is taken for a secret", () => {
  const policies = fc.oneof(text.map(pages), fc.constantFrom(...rightPolicies.map(([, policy]) => policy)));
  fc.assert(
    fc.property(policies, (policy) => {
      for (const trafficPolicy of [policy, JSON.stringify(policy)])
        expect(checkInputs({ url: "https://shop.example.com", trafficPolicy }).failures).toEqual([]);
      const keys = findSecrets({ policy }).map(({ path }) =>
        path.findLast((part) => typeof part === "string"),
      );
      expect(keys.filter((key) => !SECRET_KEYS.includes(`${key}`))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("a placeholder in what is logged stops no deployment, and is masked", () => {
  const trafficPolicy = onRequest(rule(act("log", { metadata: { password: "***" } }), act("deny")));
  expect(checkInputs({ url: "https://shop.example.com", trafficPolicy }).failures).toEqual([]);
  expect(findSecrets({ trafficPolicy })).toHaveLength(1);
});
