import { expect, test } from "vitest";
import { lastUpdateFailed, onInterruption, REPAIR_MESSAGE } from "../../../sdk/commands/drift/stack";

test("the first signal stops the command but not Pulumi, and the listener is removed after the run", () => {
  const before = process.listenerCount("SIGTERM");
  const logged: string[] = [];
  const { stopped, forward, end } = onInterruption((message) => logged.push(message));
  expect([stopped.aborted, forward.aborted]).toEqual([false, false]);
  process.emit("SIGTERM", "SIGTERM");
  expect([stopped.aborted, forward.aborted]).toEqual([true, true]);
  expect(logged).toEqual([expect.stringContaining("waiting for Pulumi to complete")]);
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  end();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

test("many runs of Pulumi can listen to one interruption without a warning", async () => {
  const warned: unknown[] = [];
  const onWarning = (warning: unknown) => warned.push(warning);
  process.on("warning", onWarning);
  const { forward, end } = onInterruption(() => {});
  for (let run = 0; run < 20; run++) forward.addEventListener("abort", () => {});
  // Node emits a warning on the next tick.
  await new Promise(setImmediate);
  process.off("warning", onWarning);
  end();
  expect(warned).toEqual([]);
});

/** An entry of the output of `pulumi stack history --json`. */
const entry = (kind: "update" | "destroy" | "refresh", result: "succeeded" | "failed", message = "") => ({
  version: 0,
  kind,
  startTime: "2026-11-22T10:24:48.000Z",
  message,
  environment: { "exec.kind": "auto.local", "pulumi.version": "v3.260.0", updatePlan: "false" },
  config: {},
  result,
  endTime: "2026-11-22T10:24:49.000Z",
  resourceChanges: { same: 1 },
});
const failed = entry("update", "failed");
const succeeded = entry("update", "succeeded");
const refresh = entry("refresh", "succeeded");
const repair = entry("update", "succeeded", REPAIR_MESSAGE);

test.each<[string, boolean, ReturnType<typeof entry>[]]>([
  ["no run at all", false, []],
  ["refreshes only", false, [refresh, entry("refresh", "failed")]],
  ["a failed up", true, [failed, succeeded]],
  ["a failed destroy", true, [entry("destroy", "failed"), succeeded]],
  ["an up after a failed one", false, [succeeded, failed]],
  ["a destroy after a failed up", false, [entry("destroy", "succeeded"), failed]],
  ["repairs after a failed up", true, [repair, refresh, repair, failed, succeeded]],
  ["a repair after an up", false, [repair, succeeded, failed]],
  ["a repair alone", false, [repair]],
  ["a failed repair", true, [entry("update", "failed", REPAIR_MESSAGE), succeeded]],
  ["an up with another message", false, [entry("update", "succeeded", "drift --fix"), failed]],
  ["many refreshes after a failed up", true, [...Array(250).fill(refresh), failed]],
  ["many refreshes after an up", false, [...Array(250).fill(refresh), succeeded, failed]],
])(
  "lastUpdateFailed reads the newest up or destroy from a history of %s",
  async (_history, isFailed, newestFirst) => {
    const history = async (size: number, page: number) => newestFirst.slice((page - 1) * size, page * size);
    expect(await lastUpdateFailed(history)).toBe(isFailed);
  },
);
