import { expect, test } from "vitest";
import { VERSION } from "../../../../provider/api/version";
import { reportPage } from "../../../../sdk/commands/drift/reportPage";
import { fullReport, hostileReport } from "./reports";

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
