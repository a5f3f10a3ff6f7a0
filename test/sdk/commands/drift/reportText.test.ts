import { expect, test } from "vitest";
import { ageText, reportText } from "../../../../sdk/commands/drift/reportText";
import { drifted, fullReport, hostileReport, report } from "./reports";

const plain = { width: 120, color: false };

test("changes are printed as a table, or on two lines each if the table does not fit", () => {
  const wide = reportText(fullReport(), plain);
  expect(wide).toMatch(
    / {2}changed shop \(https:\/\/shop\.example\.com, ep_shop\)\n {4}field +should be +is\n/,
  );
  expect(wide).toMatch(
    / {4}trafficPolicy\.on_http_request\[0\]\.actions\[1\]\.config\.status_code +404 +403\n/,
  );
  expect(wide).toMatch(/ {4}metadata\.team +"shop" +\(nothing\)\n/);
  expect(wide).toMatch(/unchecked status \(ep_status\): .*status 401/);
  expect(wide).toMatch(
    / {2}ep_2\w+ {2}https:\/\/old\.example\.com {2}"made by hand" {2}created 2025-11-12, 50 days ago {2}for front of .*\n {4}curl /,
  );
  expect(wide.split("\n").at(-1)).toMatch(/^2 of 51 cloud endpoints drifted .*\.$/);
  const narrow = reportText(fullReport(), { width: 60, color: false });
  expect(narrow).toContain(
    '    description\n      should be  "front door"\n      is         "edited by hand"\n',
  );
});

test("endpoints that could not be checked for the same reason share a line", () => {
  const ids = ["ep_a", "ep_b", "ep_c", "ep_d", "ep_e"];
  const unchecked = [
    ...ids.map((id) => ({
      what: `${id.slice(3)} (${id})`,
      reason: `cannot read ${id}: GET /endpoints/${id}: status 401. Check the key.`,
      authentication: true,
    })),
    { what: "the account's endpoints", reason: "another reason", authentication: false },
  ];
  const full = fullReport();
  const stacks = full.stacks.map((stack, index) => ({ ...stack, unchecked: index === 0 ? unchecked : [] }));
  const lines = reportText({ ...full, stacks, accounts: [] }, plain).split("\n");
  expect(lines.filter((line) => line.startsWith("  unchecked"))).toEqual([
    "  unchecked a (ep_a), b (ep_b), c (ep_c) and 2 more: cannot read ep_a: GET /endpoints/ep_a: status 401. Check the key.",
    "  unchecked the account's endpoints: another reason",
  ]);
});

test("hostile text cannot control the terminal or a pipeline, and lines have a limited length", () => {
  const text = reportText(hostileReport(), plain);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain control characters
  expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e\u2066\ud800]/);
  expect(text).not.toMatch(/##\w*\[/);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(3000);
});

test("two long texts are cut to the place of their first difference", () => {
  const [expected, live] = ["one", "two"].map((end) => `${"a".repeat(1000)}${end}`);
  const changes = [
    { field: "description", path: "description", kind: "changed" as const, expected, live, secret: false },
  ];
  const one = report({
    stacks: [
      {
        name: "prod",
        project: "shop",
        endpoints: 1,
        compared: 1,
        drifted: [drifted("a", { changes })],
        unchecked: [],
      },
    ],
  });
  expect(reportText(one, plain)).toMatch(/ …a{24}one" +…a{24}two"\n/);
});

test("the text without its colours equals the text that is printed without colours", () => {
  const colored = reportText(fullReport(), { width: 120, color: true });
  expect(colored).toContain("\u001b[");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour is a control sequence
  expect(colored.replace(/\u001b\[\d+m/g, "")).toBe(reportText(fullReport(), plain));
});

test.each([
  ["2026-01-02T03:04:00.000Z", "0 minutes ago"],
  ["2026-01-02T03:03:00.000Z", "1 minute ago"],
  ["2026-01-02T01:00:00.000Z", "2 hours ago"],
  ["2025-12-31T03:04:05.000Z", "2 days ago"],
  ["2026-01-03T00:00:00.000Z", "0 minutes ago"],
])("an endpoint of %s is %s", (createdAt, age) => {
  expect(ageText(createdAt, { startedAt: "2026-01-02T03:04:05.000Z" })).toBe(age);
});
