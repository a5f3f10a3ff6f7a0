import { expect, test } from "vitest";
import { withShortReference } from "../../docs/generate/llms";
import * as sdk from "../../sdk";
import { mistakes, namesIn, page, programs } from "./llmsPage";

test("the page for assistants has an up-to-date reference and at most 150 lines", async () => {
  expect(await withShortReference(page), "run `npm run generate`").toBe(page);
  expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("the page has five programs, nine mistakes with effects that the tests know, and every value that a program can import", () => {
  expect(programs).toHaveLength(5);
  expect(mistakes).toHaveLength(9);
  const effects =
    /^(does not compile|preview (warns|fails.*)|up fails|state holds the secret in plain text)$/;
  for (const { outcome, wrong } of mistakes) {
    expect(outcome).toMatch(effects);
    expect(wrong).not.toEqual([]);
  }
  expect(namesIn("Exports of `pulumi-endpoints`")).toEqual(expect.arrayContaining(Object.keys(sdk)));
});
