import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

/** The environment of a Pulumi CLI whose states and settings are in this folder. */
export const localBackend = (folder: string) => ({
  PULUMI_BACKEND_URL: `file://${folder}`,
  PULUMI_HOME: join(folder, "home"),
  PULUMI_CONFIG_PASSPHRASE: "only for tests",
  PULUMI_SKIP_UPDATE_CHECK: "true",
});

/**
 * Creates the folder of a Pulumi project, without a program.
 *
 * @param settings Additional lines of Pulumi.yaml.
 */
export function newProject(name: string, settings = ""): string {
  const folder = programFolder();
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\n${runtime}${settings}`);
  writeFileSync(join(folder, "package.json"), `{"name": "${name}", "main": "index.js"}\n`);
  return folder;
}
