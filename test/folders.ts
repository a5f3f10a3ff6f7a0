import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder that is removed after the test. */
export function temporaryFolder(within = tmpdir()): string {
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, "pulumi-endpoints-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a temporary folder in the repository, so that a program in it can load the package and Pulumi. */
export const programFolder = (): string => temporaryFolder(join(import.meta.dirname, ".programs"));
