import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const packageFolder = join(import.meta.dirname, "..");

/** Builds and packs the package, and unpacks it into a new folder, as an installation does. Returns the folder. */
export function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), "traffic-policy-"));
  const target = join(folder, "node_modules/traffic-policy");
  mkdirSync(target, { recursive: true });
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: packageFolder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  // The build writes lines, too.
  const [{ filename }] = JSON.parse(output.slice(output.indexOf("[\n")));
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", target, "--strip-components", "1"]);
  return folder;
}
