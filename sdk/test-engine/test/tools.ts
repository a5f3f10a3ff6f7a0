import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder that is removed after the test. */
export function temporaryFolder(within = tmpdir()): string {
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, "test-engine-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a temporary folder beside the tests, so that a program in it can load Pulumi. */
export const programFolder = (): string => temporaryFolder(join(import.meta.dirname, ".programs"));

/** Waits until `find` returns a value. Only the test's own time limit ends the wait, because a machine can be slow. */
export async function until(find: () => unknown): Promise<void> {
  while (!(await find())) await new Promise((resolve) => setTimeout(resolve, 5));
}
