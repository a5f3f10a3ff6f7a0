import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { checkInputs } from "../../../provider/endpoint/inputs";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";

const url = "https://shop.example.com";
const reasons = (news: Record<string, unknown>) =>
  checkInputs(news).failures.map((failure) => failure.reason);

test("an empty description or empty metadata counts as not given", () => {
  expect(checkInputs({ url, description: "", metadata: "" })).toEqual({ inputs: { url }, failures: [] });
});

describe("a mistake fails with the reason and a correction", () => {
  test.each([
    [{}, /url is missing; give the address/],
    [{ url: 7 }, /url must be text, not a number/],
    [{ url, trafficPolicy: ["a"] }, /trafficPolicy must be an object or text, not a list/],
    [{ url, bindings: ["public", "public"] }, /bindings has a duplicate at \[1\]/],
    [{ url, bindings: [] }, /remove bindings to let the service decide/],
    [{ url, description: "x".repeat(256) }, /at most 255 characters, but has 256/],
    [{ url, metadata: { a: "x".repeat(4096) } }, /at most 4096 characters/],
    [
      { url, trafficPolicy: { on_http_request: [{ actions: [{ config: { secret: "undefined" } }] }] } },
      /trafficPolicy at on_http_request\[0\]\.actions\[0\]\.config\.secret has undefined in it/,
    ],
    [{ url, metadata: '{"a": 1, "a": 2}' }, /metadata has a key twice \(line 1, column 10\)/],
    [{ url, adopt: "shop" }, /adopt must be an endpoint's id \(ep_…\)$/],
    [{ url, adopt: true }, /adopt must be an endpoint's id \(ep_…\), which .*npx pulumi-endpoints drift/],
    [{ url, traffic_policy: {} }, /traffic_policy is no input .*; did you mean trafficPolicy\?/],
    [{ url, colour: "red" }, /colour is no input of a cloud endpoint; the inputs are url, /],
  ])("%j", (news, reason) => {
    expect(reasons(news)).toEqual([expect.stringMatching(reason)]);
  });
});

describe("a text that stands in place of a value fails with what to write, and without its own mistakes", () => {
  const ofNode = `${pulumi.output(1)}`;
  const ofPython = "Calling __str__ on an Output[T] is not supported.\n\nTo get the value of an Output[T]…";
  const ofGo = "of %!s(*internal.OutputState=&{{{} [0 0 0]} 0xc000})";
  // A dynamic provider receives assets in the form of Pulumi's protocol.
  const asset = { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", text: "CANARY" };
  const ofDotnet = "Calling [ToString] on an [Output<T>] is not supported.";

  test.each([
    [{ description: ofNode }, /^description contains an output used as text; .*pulumi\.interpolate/],
    [{ description: ofPython }, /^description contains an output used as text; .*Output\.concat/],
    [{ description: ofGo }, /^description contains an output used as text; .*pulumi\.Sprintf/],
    [{ description: ofDotnet }, /^description contains an output used as text; .*Output\.Format/],
    [{ description: `${Promise.resolve(1)}\n` }, /a promise used as text, \[object Promise\].*await/],
    [{ metadata: `${{}}` }, /an object used as text, \[object Object\].*JSON\.stringify/],
    [{ metadata: { a: [ofNode], b: UNKNOWN } }, /^metadata contains at a\[0\] an output used as text/],
    [{ metadata: { a: { [`${{}}`]: 1 } } }, /^metadata contains in a key of a an object used as text/],
    [{ trafficPolicy: { a: "{0xc000123456}" } }, /^trafficPolicy contains at a an output used as text/],
    [{ url: `https://${ofNode}` }, /^url contains an output used as text/],
    [{ bindings: [`${{}}`] }, /^bindings contains at \[0\] an object used as text, \[object Object\]/],
    [{ metadata: { at: "[object Date]" } }, /^metadata contains at at a Date, which is no plain data/],
    [
      { trafficPolicy: "[object Buffer]" },
      /^trafficPolicy contains a Buffer, which is bytes; read it with utf8/,
    ],
    [{ trafficPolicy: { 0: 111, 1: 110 } }, /^trafficPolicy has only numbers for phases.* with utf8/],
    [
      { metadata: { a: [asset] } },
      /^metadata contains at a\[0\] an asset, an archive or a resource, which is no/,
    ],
    [{ trafficPolicy: asset }, /^trafficPolicy contains an asset, an archive or a resource, which is no/],
    [{ url: "https://undefined" }, /^url has undefined as a part of its host.*value that is missing/],
  ])("%j", (news, reason) => {
    expect(reasons({ url, ...news })).toEqual([expect.stringMatching(reason)]);
  });

  test("several of them, up to a limit", () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, ofNode]));
    expect(reasons({ url, metadata })).toHaveLength(20);
  });

  test("but not words that only resemble one", () => {
    const texts = ["undefined", "[object]", "object Object", "Calling [toString] is not supported"];
    for (const description of texts)
      expect(reasons({ url, description, metadata: { description } })).toEqual([]);
    expect(reasons({ url: "https://undefined-behaviour.example.com" })).toEqual([]);
    expect(reasons({ url: "https://nan.null.example.com" })).toEqual([]);
  });
});

test("limits count characters, and not bytes or UTF-16 units", () =>
  expect(reasons({ url, description: "😀".repeat(255) })).toEqual([]));

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
