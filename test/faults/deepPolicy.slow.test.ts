import { expect, test } from "vitest";
import { either, settledAll } from "./calls";
import { good } from "./hostile";
import { rawService } from "./rawService";

// In its own file, because a stack overflow in a parser can end the process before a test reports it.
test.each([
  ["lists", `${"[".repeat(10_000)}${"]".repeat(10_000)}`],
  ["objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ["lists that are never closed", "[".repeat(10_000)],
  ["objects that are never closed", '{"a":'.repeat(10_000)],
  ["items of items", "- ".repeat(10_000)],
])("an endpoint whose policy or metadata has 10,000 levels of %s causes no error", async (_, text) => {
  const parts = await rawService();
  for (const change of [{ traffic_policy: text }, { metadata: text }, { traffic_policy: `a: ${text}` }]) {
    const outcomes = await settledAll(parts, either(JSON.stringify({ ...good, ...change })));
    expect(outcomes.filter((outcome) => "error" in outcome)).toEqual([]);
  }
});
