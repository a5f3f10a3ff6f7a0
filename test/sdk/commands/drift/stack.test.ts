import { expect, test } from "vitest";
import { onInterruption } from "../../../../sdk/commands/drift/stack";

test("the first signal stops the command but not Pulumi, and the listeners end with the run", () => {
  const before = process.listenerCount("SIGTERM");
  const logged: string[] = [];
  const { stopped, forward, end } = onInterruption((message) => logged.push(message));
  expect([stopped.aborted, forward.aborted]).toEqual([false, false]);
  process.emit("SIGTERM", "SIGTERM");
  expect([stopped.aborted, forward.aborted]).toEqual([true, true]);
  expect(logged).toEqual([expect.stringContaining("waiting until Pulumi has finished what it began")]);
  // Without a listener, the Automation API would end Pulumi.
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  end();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
