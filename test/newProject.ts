import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A Pulumi project without a program yet, within the repository, so that it finds the package as a user's does.
 *
 * @param settings More lines of its Pulumi.yaml.
 */
export function newProject(name: string, settings = ""): string {
  const root = join(import.meta.dirname, ".programs");
  mkdirSync(root, { recursive: true });
  const folder = mkdtempSync(join(root, `${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\n${runtime}${settings}`);
  writeFileSync(join(folder, "package.json"), `{"name": "${name}", "main": "index.js"}\n`);
  return folder;
}
