import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, relative, sep } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { isMapping } from "../provider/api/json";
import { policyFromText } from "../provider/document";
import { PACKAGE } from "../provider/tokens";
import { perRun, programError } from "./programRun";

const thisRun = perRun(() => ({ found: false }));

/**
 * Where the engine finds no plugin it advises to download one, and there is none to download. So it is looked for first,
 * in the places where the engine looks, and the message says what to write.
 *
 * @throws RunError where it is in none of them.
 */
export function assertPluginInReach(): void {
  const run = thisRun();
  run.found ||= isNamedByProject() || isOnPath() || isInstalled() || isAttached();
  if (run.found) return;
  throw programError(
    `Pulumi finds no plugin named endpoints. Add this to the project's Pulumi.yaml:\nplugins:\n  providers:\n    - name: endpoints\n      path: ${pathFromProject()}`,
  );
}

function isNamedByProject(): boolean {
  const file = projectFile();
  // Without a file (a program of the Automation API, a test with mocks) nothing can be said.
  if (file === undefined) return true;
  const project = policyFromText(readFileSync(file, "utf8"));
  if (!("data" in project) || !isMapping(project.data)) return true;
  const { plugins, packages } = project.data;
  const providers = isMapping(plugins) ? plugins["providers"] : undefined;
  const named =
    Array.isArray(providers) && providers.some((one) => isMapping(one) && one["name"] === PACKAGE);
  return named || (isMapping(packages) && PACKAGE in packages);
}

const isOnPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => folder !== "" && ENDINGS.some((ending) => existsSync(join(folder, BINARY + ending))));

function isInstalled(): boolean {
  const home = process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const plugins = join(home, "plugins");
  return existsSync(plugins) && readdirSync(plugins).some((name) => name.startsWith(`resource-${PACKAGE}-v`));
}

/** Started by somebody else, as for a debugger. */
const isAttached = () => /(^|,)endpoints:\d/.test(process.env["PULUMI_DEBUG_PROVIDERS"] ?? "");

const BINARY = `pulumi-resource-${PACKAGE}`;
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd"] : [""];

function projectFile(): string | undefined {
  const files = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];
  return files.map((file) => join(pulumi.runtime.getRootDirectory(), file)).find((file) => existsSync(file));
}

/** As a project file has it, from where it stands to where this package is installed. */
function pathFromProject(): string {
  const installed = dirname(require.resolve("pulumi-endpoints/package.json"));
  const path = relative(pulumi.runtime.getRootDirectory(), join(installed, "provider", "plugin"));
  return path.split(sep).join("/");
}
