import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Tenant } from "../../examples/tenants/tenant";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";

/** Copies the example out of the repository, with the repository's packages, and compiles it as `npm start` does. */
export async function compileCopy(tenants?: Tenant[]): Promise<string> {
  const folder = temporaryFolder();
  cpSync(join(root, "examples", "tenants"), folder, { recursive: true });
  if (tenants) writeFileSync(join(folder, "tenants.json"), JSON.stringify(tenants));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith(".")))
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  // An installation makes the command executable.
  const command = `#!/bin/sh\nexec node ${join(root, "dist/sdk/commands/main.js")} "$@"\n`;
  writeFileSync(join(modules, ".bin/pulumi-endpoints"), command, { mode: 0o755 });
  // `npm test` builds the package without its types.
  const unchecked = existsSync(join(root, "dist/sdk/index.d.ts")) ? [] : ["--noCheck"];
  const compiler = join(modules, "typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, ...unchecked], { cwd: folder });
  return folder;
}
