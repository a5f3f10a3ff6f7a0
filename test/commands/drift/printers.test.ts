import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { VERSION } from "../../../provider/api/version";
import type { DriftReport } from "../../../sdk/commands/drift/report";
import { reportPage } from "../../../sdk/commands/drift/reportPage";
import { reportText } from "../../../sdk/commands/drift/reportText";
import { cleanReport, fullReport, hostileReport, manyStacks } from "./reports";

/* The tests in test/browser show the page in a browser. */

const text = (of: DriftReport, width = 120) => reportText(of, { width, color: false });

test.each([
  ["one of each finding", fullReport()],
  ["no finding", cleanReport()],
  ["12 stacks, of which two share a cause", manyStacks(12)],
])("the text of a report with %s equals the snapshot", (_, report) => {
  expect(text(report)).toMatchSnapshot();
});

test("the page of a report with one of each finding equals the snapshot", () => {
  expect(reportPage(fullReport()).replace(VERSION, "1.2.3")).toMatchSnapshot();
});

test("on a narrow terminal, each side of a change has its line", () => {
  expect(text(fullReport(), 60)).toContain(
    '    description\n      should be  "front door"\n      is         "edited by hand"\n',
  );
});

test("colours add nothing to the text but colours", () => {
  const colored = reportText(fullReport(), { width: 120, color: true });
  expect(colored).toContain("\u001b[");
  expect(stripVTControlCharacters(colored)).toBe(text(fullReport()));
});

test("no text of another person controls a terminal, a pipeline or a page", () => {
  const page = reportPage(hostileReport());
  for (const form of [text(hostileReport()), page]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain control characters
    expect(form.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e\u2066\ud800]/u);
    expect(form).not.toMatch(/##\w*\[/);
  }
  expect(page).not.toMatch(/<script|<img|onerror="/);
  expect(page.match(/<style>/g)).toHaveLength(1);
});
