import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** A copy of an example, since the CLI writes its settings beside the program. */
export function copyOf(example: string): string {
  mkdirSync(join(ROOT, "test/.programs"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "test/.programs/x-"));
  cpSync(join(ROOT, "examples", example), folder, {
    recursive: true,
    filter: (file) => !file.includes("node_modules"),
  });
  // The copy lies one folder deeper than the example.
  const project = join(folder, "Pulumi.yaml");
  writeFileSync(project, readFileSync(project, "utf8").replaceAll("path: ../../", "path: ../../../"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
