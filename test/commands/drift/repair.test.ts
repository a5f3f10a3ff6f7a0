import { expect, test } from "vitest";
import { UserError } from "../../../provider/api/apiErrors";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import { drift } from "./driftRun";
import { emulator, fakeStack, urnOf } from "./stacks";

test("a repair that fails half-way lists the repaired endpoints, the other ones, and the next step", async () => {
  const stack = fakeStack([
    { name: "a", live: { description: "by hand" } },
    { name: "b", live: "gone" },
  ]);
  const repair: DriftStack["repair"] = async () => {
    emulator.edit("ep_a", { description: undefined });
    return {
      ok: false,
      steps: [{ urn: urnOf("a"), op: "update" }],
      diagnostics: [{ severity: "error", urn: urnOf("b"), message: "cannot create b: status 500" }],
    };
  };
  const ended = await drift([{ ...stack, repair }], "--fix");
  expect(ended.code).toBe(1);
  expect(ended.report.stacks[0]?.drifted.map(({ name, repair }) => [name, repair?.done])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  expect(ended.stdout).toMatch(
    /not repaired: cannot create b: status 500\. The state may already hold .*finish with `pulumi up`/,
  );
});

test("a repair that never began is reported with its reason alone", async () => {
  const stack = fakeStack([{ name: "a", live: { description: "by hand" } }]);
  const preview: DriftStack["preview"] = async () => ({
    ok: true,
    steps: [{ urn: urnOf("a"), op: "same" }],
    diagnostics: [],
  });
  const repair = async () => {
    throw new UserError("the stack is currently locked");
  };
  const ended = await drift([{ ...stack, preview, repair }], "--fix");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/not repaired: the stack is currently locked$/m);
});

test("nothing is repaired if the program's preview fails", async () => {
  let repairs = 0;
  const stack = fakeStack([{ name: "a", live: { description: "by hand" } }], {
    preview: async () => ({
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

test("an endpoint that a repair brings under management is not reported as unmanaged", async () => {
  const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com" });
  const gone = fakeStack([{ name: "a", id: "ep_old", live: "gone" }]);
  const back = fakeStack([{ name: "a", id }]);
  let isRepaired = false;
  const now = () => (isRepaired ? back : gone);
  const stack: DriftStack = {
    ...gone,
    state: () => now().state(),
    preview: () => back.preview(),
    repair: async (urns) => {
      isRepaired = true;
      return back.repair(urns);
    },
  };
  const ended = await drift([stack], "--fix", "--fail-on-unmanaged");
  expect(ended.code, ended.stdout).toBe(0);
  expect(ended.report.accounts.map(({ unmanaged }) => unmanaged)).toEqual([[]]);
});

test("a repair fails if it only wrote the live values into the state", async () => {
  const drifted = fakeStack([{ name: "a", live: { description: "by hand" } }]);
  const refreshed = fakeStack([{ name: "a", inputs: { description: "by hand" } }]);
  let isRefreshed = false;
  const now = () => (isRefreshed ? refreshed : drifted);
  const ended = await drift(
    [
      {
        ...drifted,
        state: () => now().state(),
        preview: () => refreshed.preview(),
        repair: async (urns) => {
          isRefreshed = true;
          return refreshed.repair(urns);
        },
      },
    ],
    "--fix",
  );
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/not repaired: the endpoint still differs after the repair\. The state may/);
});
