import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPulumiCli } from "../../sdk/testing";
import { generateSdk } from "../provider/plugin/pulumi";

const run = promisify(execFile);

/** The folder of Pulumi's Python packages. Undefined if they or the CLI are not installed. */
export async function findPulumiInPython(): Promise<string | undefined> {
  if (!(await findPulumiCli()) || !(await findPulumiCli(undefined, "python"))) return undefined;
  const script =
    "import os, parver, pulumi, semver, setuptools; print(os.path.dirname(os.path.dirname(pulumi.__file__)))";
  return run("python3", ["-c", script]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Does the work of `pulumi install`, but with the installed packages instead of ones from the network. */
export async function installPython(folder: string): Promise<void> {
  const sdk = await generateSdk("python");
  // The SDK reads its version from the metadata of an installed package.
  await run("python3", ["-c", "import setuptools; setuptools.setup()", "egg_info"], { cwd: sdk });
  await run("python3", ["-m", "venv", "--without-pip", "venv"], { cwd: folder });
  const lib = join(folder, "venv", "lib");
  const [python = ""] = readdirSync(lib);
  const paths = `${sdk}\n${await findPulumiInPython()}\n`;
  writeFileSync(join(lib, python, "site-packages", "endpoints.pth"), paths);
}
