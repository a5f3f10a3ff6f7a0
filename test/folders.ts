import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder that is removed when the test has ended. */
export function temporaryFolder(within = tmpdir()): string {
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, "pulumi-endpoints-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One within the repository, so that a program in it finds the package and Pulumi as a user's does. */
export const programFolder = (): string => temporaryFolder(join(import.meta.dirname, ".programs"));
