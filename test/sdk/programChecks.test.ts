import { dirname } from "node:path";
import { expect, test } from "vitest";
import { assertNodeForProviders } from "../../sdk/programChecks";

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
