import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addLines } from "../../sdk/commands/drift/recovery";
import { type DriftReport, reportSchema } from "../../sdk/commands/drift/report";
import { reportText } from "../../sdk/commands/drift/reportView";
import { root } from "../package/pack";
import { blocksOf } from "./pages";

/* The reports that docs/drift.md shows. */

const shown = blocksOf("docs/drift.md").flatMap(({ language, code }) => (language === "" ? [code] : []));
const json = readFileSync(join(root, "docs/generate/drift.json"), "utf8");
const report: DriftReport = reportSchema.parse(JSON.parse(json));

/** The lines of a shown report. `…` ends a line that the page shows in part. */
const linesIn = (text = "") =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (line.endsWith("…") ? expect.stringContaining(line.slice(0, -1)) : line));

const printed = (one: DriftReport) =>
  reportText(one)
    .split("\n")
    .filter((line) => line !== "");

test("the report of a night is the text of the report in the picture", () => {
  expect(printed(report)).toEqual(linesIn(shown[0]));
});

test("the report of a killed run is the text of such a report", () => {
  const pending = (name: string, left: string[]) => ({
    ...{ name, urn: `urn:pulumi:prod::shop::pulumi-nodejs:dynamic/endpoints:CloudEndpoint::${name}` },
    ...{ type: "pulumi-nodejs:dynamic/endpoints:CloudEndpoint", url: `https://${name}.example.com` },
    ...{ pool: false, left, alsoCreating: [] },
  });
  const [stack] = report.stacks;
  if (!stack) throw new Error("the report has no stack");
  const killed: DriftReport = {
    ...report,
    accounts: [],
    stacks: [
      {
        ...stack,
        ...{ drifted: [], undeployed: "2 creates pending", pendingOperations: 2 },
        pendingCreates: [pending("api", ["ep_gjF0g0y3qw4bWlnPmJm8D8ygaOs"]), pending("docs", [])],
      },
    ],
  };
  addLines(killed);
  expect(printed(killed)).toEqual(linesIn(shown[1]));
});

test("the page says what to do with each line", () => {
  const page = readFileSync(join(root, "docs/drift.md"), "utf8");
  const words = [...page.matchAll(/^\| `(\w+)` \| /gm)].map(([, word]) => word);
  expect(words).toEqual([
    "changed",
    "deleted",
    "undeployed",
    "pending",
    "shared",
    "unmanaged",
    "ignored",
    "unread",
    "unchecked",
    "next",
  ]);
});
