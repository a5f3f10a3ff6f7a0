import { expect, test } from "vitest";
import { VERSION } from "../../../../provider/tokens";
import type { DriftReport } from "../../../../sdk/commands/drift/report";
import { reportPage } from "../../../../sdk/commands/drift/reportPage";
import { fullReport, hostileReport, report } from "./reports";

/* The tests in test/browser show the page in a browser. */

test("the page of a report with one of everything equals the snapshot", () => {
  const page = reportPage(fullReport()).replace(VERSION, "1.2.3");
  expect(page).toMatchSnapshot();
});

test("hostile text adds no element and no attribute to the page", () => {
  const page = reportPage(hostileReport());
  expect(page).not.toMatch(/<script|<img|onerror="/);
  expect(page.match(/<style>/g)).toHaveLength(1);
});

test("the page's title starts with the outcome", () => {
  const titleOf = (of: DriftReport) => /<title>(.*)<\/title>/.exec(reportPage(of))?.[1];
  const stacks = [{ name: "prod", endpoints: 48, compared: 48, drifted: [], unseen: [] }];
  expect(titleOf(report({ outcome: "none", exitCode: 0, stacks }))).toBe(
    "No drift in 48 cloud endpoints (prod)",
  );
  expect(titleOf(report())).toBe("Drift: 1 of 48 cloud endpoints drifted (1 changed) (prod)");
});
