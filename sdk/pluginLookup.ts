import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, relative, sep } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { PACKAGE } from "../provider/api/config";
import { isMapping } from "../provider/api/json";
import { policyFromText } from "../provider/endpoint/documents";
import { perRun, programError } from "./programRun";
import { pluginFolders, projectFile } from "./projectFile";

/*
 * Looks for this package's plugin in the same places as the engine. If the engine does not find it, it advises to download one,
 * but there is no download. So the constructors look first, and name the lines to add.
 */

const BINARY = `pulumi-resource-${PACKAGE}`;
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd"] : [""];

const thisRun = perRun(() => ({ found: false }));

/** @throws RunError if the engine would not find this package's plugin. */
export function assertPluginInReach(): void {
  const run = thisRun();
  const root = pulumi.runtime.getRootDirectory();
  run.found ||= isNamedByProject(root) || isOnPath() || isInstalled() || isAttached();
  if (run.found) return;
  const installed = dirname(require.resolve("pulumi-endpoints/package.json"));
  const path = relative(root, join(installed, "provider", "plugin"))
    .split(sep)
    .join("/");
  throw programError(
    `Pulumi finds no plugin named endpoints. Add this to the project's Pulumi.yaml:\nplugins:\n  providers:\n    - name: endpoints\n      path: ${path}`,
  );
}

function isNamedByProject(root: string): boolean {
  const file = projectFile(root);
  // A program of the Automation API, or a test with mocks, has no file. Then nothing is known.
  if (file === undefined) return true;
  const project = policyFromText(readFileSync(file, "utf8"));
  if (!("data" in project) || !isMapping(project.data)) return true;
  const { packages } = project.data;
  return pluginFolders(project.data, root).has(PACKAGE) || (isMapping(packages) && PACKAGE in packages);
}

const isOnPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => folder !== "" && ENDINGS.some((ending) => existsSync(join(folder, BINARY + ending))));

function isInstalled(): boolean {
  const plugins = join(process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "plugins");
  return existsSync(plugins) && readdirSync(plugins).some((name) => name.startsWith(`resource-${PACKAGE}-v`));
}

/** Started separately, for example in a debugger. */
const isAttached = () => /(^|,)endpoints:\d/.test(process.env["PULUMI_DEBUG_PROVIDERS"] ?? "");
