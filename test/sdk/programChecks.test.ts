import { dirname } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, test } from "vitest";
import { CloudEndpoint, Provider, WebhookVerification } from "../../sdk";
import { assertNodeForProviders } from "../../sdk/programChecks";
import { assertName } from "../../sdk/programRun";
import { tooLong } from "../messages";
import { mockEngine } from "./program";

const withNode = dirname(process.execPath);
const withoutNode = import.meta.dirname;

test("a program on Bun fails with a clear message if there is no Node.js on the PATH", () => {
  expect(() => assertNodeForProviders({ bun: "1.4.5" }, withoutNode)).toThrow("no node on the PATH");
  expect(() => assertNodeForProviders({ bun: "1.4.5" }, "")).toThrow("no node on the PATH");
});

test("a program runs if it runs on Node.js, or on Bun with Node.js on the PATH", () => {
  expect(() => assertNodeForProviders({ bun: "1.4.5" }, `${withoutNode}:${withNode}`)).not.toThrow();
  expect(() => assertNodeForProviders({ node: "20.19.0" }, withoutNode)).not.toThrow();
});

describe("a name that is built from something else than text", () => {
  beforeAll(() => mockEngine());
  const classes = {
    CloudEndpoint: (name: string) => new CloudEndpoint(name, { url: "https://shop.example.com" }),
    "CloudEndpoint.get": (name: string) => CloudEndpoint.get(name, "ep_1"),
    WebhookVerification: (name: string) =>
      new WebhookVerification(name, { platform: "github", secret: "shared" }),
    Provider: (name: string) => new Provider(name, { apiKey: "key" }),
  };
  const output = pulumi.output("shop");
  const STAND_INS = [`${output}-front`, output, `a-${Promise.resolve()}`, `a-${{}}`];
  const MISSING = ["undefined", "undefined-hook", "hook_undefined", "eu.undefined.hook", "hooks/undefined"];
  const PLAIN = [
    "undefinedness",
    "is undefined here",
    "null",
    "Calling [toString] is not supported",
    "[object]",
  ];

  test.each(Object.entries(classes))("is refused by %s", (_, create) => {
    const messages = [...STAND_INS, ...MISSING].map((name) => {
      try {
        create(name as string);
        return `${name} was accepted`;
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages.slice(0, 4)).toEqual([
      expect.stringMatching(/name .* an output used as text.* See "You renamed a resource"/),
      expect.stringMatching(/an output used as text/),
      expect.stringMatching(/name .* contains \[object Promise\]/),
      expect.stringMatching(/name .* contains \[object Object\]/),
    ]);
    expect(messages.slice(4)).toEqual(MISSING.map(() => expect.stringMatching(/name .* undefined/)));
    expect(tooLong(messages)).toEqual([]);
  });

  test.each(PLAIN)("is not %s", (name) => expect(() => assertName("Provider", name)).not.toThrow());
});
