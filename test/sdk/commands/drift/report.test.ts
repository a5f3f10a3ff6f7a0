import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outcomeOf } from "../../../../sdk/commands/drift/outcome";
import { reportSchema } from "../../../../sdk/commands/drift/report";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/drift.md"), "utf8");

test("the report in the documentation is one, and ends as its outcome has to", () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const report = reportSchema.strict().parse(JSON.parse(example));
  expect(outcomeOf(report)).toEqual({ outcome: report.outcome, exitCode: report.exitCode });
});

test("every outcome is in the documentation", () => {
  for (const outcome of reportSchema.shape.outcome.options) expect(page).toContain(`\`${outcome}\``);
});
