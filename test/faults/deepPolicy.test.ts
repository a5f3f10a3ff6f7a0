import { expect, test } from "vitest";
import { either, settledAll } from "./calls";
import { good } from "./hostile";
import { rawService } from "./rawService";

// Alone in its file: where a parser runs to the end of the stack, Node can end the process, and no test reports it.
test.each([
  ["lists", `${"[".repeat(10_000)}${"]".repeat(10_000)}`],
  ["objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ["lists that are never closed", "[".repeat(10_000)],
  ["objects that are never closed", '{"a":'.repeat(10_000)],
  ["items of items", "- ".repeat(10_000)],
])("10,000 levels of %s in the text of a policy or of metadata lose no endpoint", async (_, text) => {
  const parts = await rawService();
  for (const change of [{ traffic_policy: text }, { metadata: text }, { traffic_policy: `a: ${text}` }]) {
    const outcomes = await settledAll(parts, either(JSON.stringify({ ...good, ...change })));
    expect(outcomes.filter((outcome) => "error" in outcome)).toEqual([]);
  }
});
