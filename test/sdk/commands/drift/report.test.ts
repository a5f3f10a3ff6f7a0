import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DriftReport, outcomeOf, reportSchema } from "../../../../sdk/commands/drift/report";
import { headline } from "../../../../sdk/commands/drift/wording";
import { drifted, report } from "./reports";

const ending = (more: Partial<DriftReport>) => outcomeOf(report(more));
const stack = (...endpoints: ReturnType<typeof drifted>[]) => [
  { name: "prod", endpoints: 3, compared: 3, drifted: endpoints, unseen: [] },
];
const account = (unmanaged: { id: string }[]) => [
  { service: "https://api.ngrok.com", stacks: ["prod"], endpoints: 3, unmanaged, unseen: [] },
];
const notChecked = (authentication: boolean) => [
  { what: "shop (ep_shop)", reason: "status 500", authentication },
];

test("the exit code is 7 for drift, as in Pulumi's CLI, and 0 if there is none or all was repaired", () => {
  expect(ending({ stacks: stack() })).toEqual({ outcome: "none", exitCode: 0 });
  expect(ending({ stacks: stack(drifted("a")) })).toEqual({ outcome: "drift", exitCode: 7 });
  const done = drifted("a", { repair: { done: true } });
  expect(ending({ fix: true, stacks: stack(done, done) })).toEqual({ outcome: "repaired", exitCode: 0 });
  const failed = drifted("b", { repair: { done: false, reason: "no" } });
  expect(ending({ fix: true, stacks: stack(done, failed) })).toEqual({ outcome: "unrepaired", exitCode: 1 });
});

test("an unmanaged endpoint is drift only with --fail-on-unmanaged, also after a repair", () => {
  const accounts = account([{ id: "ep_1" }]);
  expect(ending({ stacks: stack(), accounts })).toEqual({ outcome: "none", exitCode: 0 });
  expect(ending({ stacks: stack(), accounts, failOnUnmanaged: true })).toEqual({
    outcome: "drift",
    exitCode: 7,
  });
  const done = drifted("a", { repair: { done: true } });
  expect(ending({ stacks: stack(done), accounts, fix: true, failOnUnmanaged: true }).exitCode).toBe(7);
});

test("a partial check never reports success or drift, and a refused key has its own exit code", () => {
  const [one] = stack(drifted("a"));
  const [of] = account([]);
  if (!one || !of) throw new Error("there is one of each");
  expect(ending({ stacks: [{ ...one, unseen: notChecked(false) }] })).toEqual({
    outcome: "unseen",
    exitCode: 1,
  });
  expect(ending({ accounts: [{ ...of, unseen: notChecked(false) }] })).toEqual({
    outcome: "unseen",
    exitCode: 1,
  });
  expect(ending({ stacks: [{ ...one, unseen: [...notChecked(false), ...notChecked(true)] }] })).toEqual({
    outcome: "unseen",
    exitCode: 3,
  });
});

test("the headline counts every finding, and leaves out what was not found", () => {
  expect(headline(report({ stacks: stack() }))).toBe("No drift in 3 cloud endpoints");
  const both = stack(
    drifted("a", { repair: { done: true } }),
    drifted("b", { drift: "deleted", changes: [] }),
  );
  expect(headline(report({ fix: true, stacks: both, accounts: account([{ id: "ep_1" }]) }))).toBe(
    "2 of 3 cloud endpoints drifted (1 changed, 1 deleted), 1 repaired, 1 not repaired, 1 unmanaged",
  );
});

test("unmanaged endpoints that count as drift come first in the headline", () => {
  const accounts = account([{ id: "ep_1" }]);
  expect(headline(report({ stacks: stack(), accounts, failOnUnmanaged: true }))).toBe(
    "1 unmanaged, which counts as drift, none of 3 cloud endpoints drifted",
  );
});

test("the headline claims that there is no drift only if everything was compared", () => {
  const of = (
    name: string,
    endpoints: number,
    compared: number,
    some: ReturnType<typeof drifted>[] = [],
  ) => ({
    name,
    endpoints,
    compared,
    drifted: some,
    unseen: compared < endpoints || endpoints === 0 ? notChecked(false) : [],
  });
  const line = (...stacks: DriftReport["stacks"]) => headline(report({ stacks }));
  expect(line(of("p", 5, 0))).toBe("0 of 5 cloud endpoints compared, 1 thing could not be checked");
  expect(line(of("p", 5, 3, [drifted("a")]), of("q", 2, 2))).toBe(
    "1 of 7 cloud endpoints drifted (1 changed), 5 of 7 cloud endpoints compared, 1 thing could not be checked",
  );
  expect(line(of("lost", 0, 0))).toBe("Nothing compared, 1 stack not read, 1 thing could not be checked");
  expect(line(of("lost", 0, 0), of("p", 2, 2))).toBe(
    "2 of 2 cloud endpoints compared, 1 stack not read, 1 thing could not be checked",
  );
  expect(line({ ...of("p", 1, 1), unseen: notChecked(false) })).toBe(
    "No drift in 1 cloud endpoint, 1 thing could not be checked",
  );
});

test("a repair with a refused key has the exit code 3", () => {
  const refused = drifted("a", { repair: { done: false, reason: "status 403", authentication: true } });
  expect(ending({ fix: true, stacks: stack(refused) })).toEqual({ outcome: "unrepaired", exitCode: 3 });
});

const page = readFileSync(join(import.meta.dirname, "../../../../docs/drift.md"), "utf8");

test("the report in the documentation is valid, and has the exit code of its outcome", () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const report = reportSchema.strict().parse(JSON.parse(example));
  expect(outcomeOf(report)).toEqual({ outcome: report.outcome, exitCode: report.exitCode });
});

test("the documentation has every outcome", () => {
  for (const outcome of reportSchema.shape.outcome.options) expect(page).toContain(`\`${outcome}\``);
});
