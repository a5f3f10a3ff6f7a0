import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { checkInputs } from "../../../provider/endpoint/check";
import { UNKNOWN } from "../../../provider/endpoint/documents";

const url = "https://shop.example.com";
const reasons = (news: Record<string, unknown>, olds?: Record<string, unknown>) =>
  checkInputs(news, olds).failures.map((failure) => failure.reason);

test("an empty description or empty metadata counts as not given", () => {
  expect(checkInputs({ url, description: "", metadata: "" })).toEqual({ inputs: { url }, failures: [] });
});

describe("a mistake fails with the reason and a correction", () => {
  test.each([
    [{}, /url is missing; give the address/],
    [{ url: "shop.example.com" }, /url is not a URL; write scheme and host/],
    [{ url: 7 }, /url must be text, not a number/],
    [{ url, metadata: 7 }, /metadata must be an object or text, not a number/],
    [{ url, trafficPolicy: ["a"] }, /trafficPolicy must be an object or text, not a list/],
    [{ url, trafficPolicy: '{"a":' }, /trafficPolicy is not valid JSON/],
    [
      { url, metadata: { a: [{ b: () => 0 }] } },
      /metadata contains at a\[0\]\.b a function, which JSON cannot represent/,
    ],
    [{ url, bindings: ["public", "public"] }, /bindings has a duplicate at \[1\]/],
    [{ url, bindings: [] }, /remove bindings to let the service decide/],
    [{ url, bindings: "public" }, /bindings must be a list of names, not a string/],
    [{ url, description: "x".repeat(256) }, /at most 255 characters, but has 256/],
    [{ url, metadata: "x".repeat(4097) }, /at most 4096 characters, but has 4097/],
    [{ url, metadata: { a: "x".repeat(4096) } }, /at most 4096 characters/],
    [{ url, poolingEnabled: "yes" }, /poolingEnabled must be true or false, not a string/],
    [{ url, adopt: "shop" }, /adopt must be true, or an endpoint's id/],
    [
      { url, traffic_policy: {} },
      /traffic_policy is no input of a cloud endpoint; did you mean trafficPolicy\?/,
    ],
    [{ url, descripton: "x" }, /descripton is no input of a cloud endpoint; did you mean description\?/],
    [{ url, colour: "red" }, /colour is no input of a cloud endpoint; the inputs are url, /],
  ])("%j", (news, reason) => {
    expect(reasons(news)).toEqual([expect.stringMatching(reason)]);
  });
});

/** The texts that Pulumi's SDKs for Node.js and Python put in place of an output. */
const outputsAsText = [
  String(pulumi.output("x")),
  `behind ${pulumi.output("x")}`,
  JSON.stringify({ a: [pulumi.output("x")] }),
  "Calling __str__ on an Output[T] is not supported.",
];

test.each(outputsAsText)(
  "an output turned into text is refused in every input and at any depth: %j",
  (text) => {
    const expected = (input: string) => [
      expect.stringMatching(`^${input} contains an output turned into text`),
    ];
    expect(reasons({ url, description: text })).toEqual(expected("description"));
    expect(reasons({ url, trafficPolicy: text })).toEqual(expected("trafficPolicy"));
    expect(reasons({ url, metadata: { a: [text], b: UNKNOWN } })).toEqual(expected("metadata"));
    expect(reasons({ url: `https://${text}` })).toEqual(expected("url"));
  },
);

test("a new scheme with an adopted id is refused, because the replacement would delete the adopted endpoint", () => {
  const olds = { url, adopt: "ep_1" };
  expect(reasons({ url: "tls://shop.example.com", adopt: "ep_1" }, olds)).toEqual([
    expect.stringMatching(/remove adopt/),
  ]);
  expect(reasons({ url: "tls://shop.example.com", adopt: true }, olds)).toEqual([]);
  expect(reasons({ url: UNKNOWN, adopt: "ep_1" }, olds)).toEqual([]);
});

test("limits count characters, and not bytes or UTF-16 units", () => {
  expect(reasons({ url, description: "😀".repeat(255) })).toEqual([]);
});

test("an unknown value passes every check, at any depth", () => {
  const news = {
    url: UNKNOWN,
    description: UNKNOWN,
    trafficPolicy: { on_http_request: [{ actions: [{ type: UNKNOWN }] }] },
    metadata: { a: UNKNOWN },
    bindings: [UNKNOWN],
    poolingEnabled: UNKNOWN,
  };
  expect(checkInputs(news)).toEqual({ inputs: news, failures: [] });
});

test("no reason quotes an input, because each may be secret", () => {
  const bad = {
    url: "https://u:CANARY@x.example.com",
    trafficPolicy: '{"CANARY"',
    description: `CANARY${"x".repeat(255)}`,
    metadata: { f: () => "CANARY" },
    bindings: ["CANARY", "CANARY"],
    adopt: "CANARY",
  };
  const scheme = { ...bad, url: "ftp+canary://x.example.com", metadata: `CANARY${"x".repeat(4096)}` };
  const failures = [bad, scheme].flatMap((news) => checkInputs(news).failures);
  expect(failures.map(({ input }) => input)).toEqual([...Object.keys(bad), ...Object.keys(bad)]);
  for (const { reason } of failures) expect(reason).not.toMatch(/canary/i);
});
