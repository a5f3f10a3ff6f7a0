import { expect, test } from "vitest";
import { awaitInterruption } from "../../../../sdk/commands/drift/interruption";

test("the first signal lets Pulumi end what it began, and what comes after the run is nobody's again", () => {
  const before = process.listenerCount("SIGTERM");
  const said: string[] = [];
  const { stopped, forward, forget } = awaitInterruption((message) => said.push(message));
  expect([stopped.aborted, forward.aborted]).toEqual([false, false]);
  process.emit("SIGTERM", "SIGTERM");
  expect([stopped.aborted, forward.aborted]).toEqual([true, true]);
  expect(said).toEqual([expect.stringContaining("waiting until Pulumi has ended what it began")]);
  // A listener stays as long as the run does: without one, the library that runs Pulumi would end it.
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  forget();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
