import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DriftReport, outcomeOf, reportSchema } from "../../../sdk/commands/drift/report";
import { headline } from "../../../sdk/commands/drift/reportView";
import { type Drifted, drifted, report } from "./reports";

const stack = (...endpoints: Drifted[]): [DriftReport["stacks"][number]] => [
  { name: "prod", project: "shop", endpoints: 3, compared: 3, drifted: endpoints, unchecked: [] },
];
const account = (unmanaged: { id: string }[]): [DriftReport["accounts"][number]] => [
  {
    ...{ service: "https://api.ngrok.com", stacks: ["prod"], endpoints: 3 },
    ...{ unmanaged, others: [], ignored: [], known: 0, unchecked: [] },
  },
];
const asUnchecked = (authentication: boolean) => [
  { what: "shop (ep_shop)", reason: "status 500", authentication },
];

const [one] = stack();
const [of] = account([]);
const done = drifted("a", { repair: { done: true } });
const failed = drifted("b", { repair: { done: false, reason: "no" } });
const refused = drifted("a", { repair: { done: false, reason: "status 403", authentication: true } });
const unmanaged = account([{ id: "ep_1" }]);
const failOnUnmanaged = true;

test.each<[string, Partial<DriftReport>, DriftReport["outcome"], number]>([
  ["no drift", { stacks: stack() }, "none", 0],
  ["drift, with the code of Pulumi's CLI", { stacks: stack(drifted("a")) }, "drift", 7],
  ["drift that was repaired", { fix: true, stacks: stack(done, done) }, "repaired", 0],
  ["drift of which a part was repaired", { fix: true, stacks: stack(done, failed) }, "unrepaired", 1],
  ["a repair with a refused key", { fix: true, stacks: stack(refused) }, "unrepaired", 3],
  ["unmanaged endpoints", { stacks: stack(), accounts: unmanaged }, "none", 0],
  [
    "unmanaged endpoints with --fail-on-unmanaged",
    { stacks: stack(), accounts: unmanaged, failOnUnmanaged },
    "drift",
    7,
  ],
  [
    "unmanaged endpoints with --fail-on-unmanaged after a repair",
    { stacks: stack(done), accounts: unmanaged, fix: true, failOnUnmanaged },
    "drift",
    7,
  ],
  [
    "a partial check, even if it found drift",
    { stacks: [{ ...one, drifted: [drifted("a")], unchecked: asUnchecked(false) }] },
    "unchecked",
    1,
  ],
  [
    "an account that could not be read",
    { accounts: [{ ...of, unchecked: asUnchecked(false) }] },
    "unchecked",
    1,
  ],
  [
    "a check with a refused key",
    { stacks: [{ ...one, unchecked: [...asUnchecked(false), ...asUnchecked(true)] }] },
    "unchecked",
    3,
  ],
])("the outcome and the exit code are right for %s", (_, more, outcome, exitCode) => {
  expect(outcomeOf(report(more))).toEqual({ outcome, exitCode });
});

test("the headline counts every finding, and omits zero counts", () => {
  expect(headline(report({ stacks: stack() }))).toBe("No drift in 3 cloud endpoints");
  const both = stack(done, drifted("b", { drift: "deleted", changes: [] }));
  expect(headline(report({ fix: true, stacks: both, accounts: unmanaged }))).toBe(
    "2 of 3 cloud endpoints drifted (1 changed, 1 deleted), 1 repaired, 1 not repaired, 1 unmanaged",
  );
  expect(headline(report({ stacks: stack(), accounts: unmanaged, failOnUnmanaged }))).toBe(
    "1 unmanaged, which counts as drift, none of 3 cloud endpoints drifted",
  );
});

test("the headline claims that there is no drift only if everything was compared", () => {
  const of = (name: string, endpoints: number, compared: number, some: Drifted[] = []) => ({
    name,
    project: "shop",
    endpoints,
    compared,
    drifted: some,
    unchecked: compared < endpoints || endpoints === 0 ? asUnchecked(false) : [],
  });
  const line = (...stacks: DriftReport["stacks"]) => headline(report({ stacks }));
  expect(line(of("p", 5, 0))).toBe("0 of 5 cloud endpoints compared, 1 unchecked");
  expect(line(of("p", 5, 3, [drifted("a")]), of("q", 2, 2))).toBe(
    "1 of 7 cloud endpoints drifted (1 changed), 5 of 7 cloud endpoints compared, 1 unchecked",
  );
  expect(line(of("lost", 0, 0))).toBe("Nothing compared, 1 unchecked");
  expect(line(of("lost", 0, 0), of("p", 2, 2))).toBe("2 of at least 2 cloud endpoints compared, 1 unchecked");
  expect(line({ ...of("p", 1, 1), unchecked: asUnchecked(false) })).toBe(
    "No drift in 1 cloud endpoint, 1 unchecked",
  );
});

const page = readFileSync(join(import.meta.dirname, "../../../docs/drift.md"), "utf8");

test("the example in the documentation is a valid report, with the exit code of its outcome", () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const report = reportSchema.strict().parse(JSON.parse(example));
  expect(outcomeOf(report)).toEqual({ outcome: report.outcome, exitCode: report.exitCode });
});

test("the documentation describes every outcome", () => {
  for (const outcome of reportSchema.shape.outcome.options) expect(page).toContain(`\`${outcome}\``);
});
