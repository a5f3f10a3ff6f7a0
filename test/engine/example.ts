import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** What running an example in its own folder leaves there. */
const LEFTOVERS = ["node_modules", "sdks", "venv", "__pycache__"];

/** A copy of an example, since the CLI writes its settings beside the program. It finds the plugin from where it lies. */
export function copyOf(example: string): string {
  mkdirSync(join(ROOT, "test/.programs"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "test/.programs/x-"));
  cpSync(join(ROOT, "examples", example), folder, {
    recursive: true,
    filter: (file) => !LEFTOVERS.includes(basename(file)),
  });
  const project = join(folder, "Pulumi.yaml");
  const plugin = join(ROOT, "provider", "plugin");
  writeFileSync(project, readFileSync(project, "utf8").replace("../../provider/plugin", plugin));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
