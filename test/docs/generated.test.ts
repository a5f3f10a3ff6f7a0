import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { endpointInputs } from "../../docs/generate/fields";
import { generatedFiles } from "../../docs/generate/generate";
import * as sdk from "../../sdk";
import { page as forAssistants, mistakes, namesIn, programs } from "./llmsPage";

const files = await generatedFiles();

test.each([...files])("%s is up to date", (file, text) => {
  expect(readFileSync(file, "utf8"), "run `npm run generate`").toBe(text);
});

test("every field in the reference has a description", () => {
  const [resources = ""] = (files.get("docs/reference.md") ?? "").split("## Commands");
  const rows = resources.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});

test("the page for assistants has at most 150 lines, five programs, nine mistakes with effects that tests check, and every value that a program can import", () => {
  expect(forAssistants.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  expect(programs).toHaveLength(5);
  expect(mistakes).toHaveLength(9);
  const effects =
    /^(does not compile|preview (warns|fails.*)|up fails|state holds the secret in plain text)$/;
  for (const { outcome, wrong } of mistakes) {
    expect(outcome).toMatch(effects);
    expect(wrong).not.toEqual([]);
  }
  // A scenario runs it: "a rename without an alias fails".
  const [rename] = mistakes.filter(({ outcome }) => outcome === "up fails");
  expect(readFileSync("provider/endpoint/errors.ts", "utf8")).toContain(rename?.message);
  expect(namesIn("Exports of `pulumi-endpoints`")).toEqual(expect.arrayContaining(Object.keys(sdk)));
  // The page has the names of all inputs, and leaves the rest to the reference.
  const [, inputs = ""] = /^- Inputs of `CloudEndpoint`: (.*?)\. /m.exec(forAssistants) ?? [];
  const names = [...inputs.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(names.sort()).toEqual(
    endpointInputs()
      .map(({ name }) => name)
      .sort(),
  );
});
