import { expect, test } from "vitest";
import type { DriftStack } from "../../../../sdk/commands/drift/stack";
import type { Step } from "../../../../sdk/testing";
import { emulator, stackOf, TYPE, urnOf } from "./madeStacks";
import { drift } from "./run";

/* What the command makes of states and steps that are made up, and of real accounts. */

test("a repair that fails half-way says what was done and what was not, and how to go on", async () => {
  const stack = stackOf([
    { name: "a", live: { description: "by hand" } },
    { name: "b", live: "gone" },
  ]);
  const look = await stack.look(() => {});
  let looks = 0;
  const step = (name: string, op: Step["op"]): Step => ({ urn: urnOf(name), type: TYPE, name, op, diff: [] });
  const ended = await drift(
    [
      {
        ...stack,
        plan: async () => ({ ok: true, steps: [step("a", "same"), step("b", "same")], diagnostics: [] }),
        repair: async () => ({
          ok: false,
          steps: [step("a", "update")],
          diagnostics: [{ severity: "error", urn: urnOf("b"), message: "cannot create b: status 500" }],
        }),
        look: async () => (++looks === 1 ? look : { ...look, steps: [step("a", "same"), step("b", "same")] }),
      },
    ],
    "--fix",
  );
  expect(ended.code).toBe(1);
  expect(ended.report.stacks[0]?.drifted.map(({ name, repair }) => [name, repair?.done])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  expect(ended.stdout).toMatch(
    /not repaired: cannot create b: status 500\. The state may hold .*finish with `pulumi up`/,
  );
});

test("nothing is repaired where the program's preview fails", async () => {
  let repairs = 0;
  const stack = stackOf([{ name: "a", live: { description: "by hand" } }], {
    plan: async () => ({
      ok: false,
      steps: [],
      diagnostics: [{ severity: "error", message: "it does not compile" }],
    }),
    repair: async () => {
      repairs++;
      throw new Error("must not be called");
    },
  });
  const ended = await drift([stack], "--fix");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain("not repaired: the program's preview failed: it does not compile");
  expect(repairs).toBe(0);
});

test("an unmanaged endpoint is told as it is after a repair", async () => {
  const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com" });
  const gone = stackOf([{ name: "a", id: "ep_old", live: "gone" }]);
  const back = stackOf([{ name: "a", id }]);
  let isRepaired = false;
  const now = () => (isRepaired ? back : gone);
  const stack: DriftStack = {
    ...gone,
    state: () => now().state(),
    look: (progress) => now().look(progress),
    plan: () => back.plan(),
    repair: async (urns) => {
      isRepaired = true;
      return back.repair(urns);
    },
  };
  const ended = await drift([stack], "--fix", "--fail-on-unmanaged");
  expect(ended.code, ended.stdout).toBe(0);
  expect(ended.report.accounts.map(({ unmanaged }) => unmanaged)).toEqual([[]]);
});

test("a repair that has only taken what is live into the state is none", async () => {
  const drifted = stackOf([{ name: "a", live: { description: "by hand" } }]);
  const refreshed = stackOf([{ name: "a", inputs: { description: "by hand" } }]);
  let isRefreshed = false;
  const now = () => (isRefreshed ? refreshed : drifted);
  const ended = await drift(
    [
      {
        ...drifted,
        state: () => now().state(),
        look: (progress) => now().look(progress),
        plan: () => refreshed.plan(),
        repair: async (urns) => {
          isRefreshed = true;
          return refreshed.repair(urns);
        },
      },
    ],
    "--fix",
  );
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/not repaired: a second look did not show it as it should be\. The state may/);
});
