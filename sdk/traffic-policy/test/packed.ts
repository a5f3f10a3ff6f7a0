import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const packageFolder = join(import.meta.dirname, "..");

/** Builds and packs the package, and unpacks it into a new folder like an installation. Returns the folder. */
export function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), "traffic-policy-"));
  const target = join(folder, "node_modules/traffic-policy");
  mkdirSync(target, { recursive: true });
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: packageFolder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Skips the lines that the build writes before the JSON.
  const [{ filename }] = JSON.parse(output.slice(output.indexOf("[\n")));
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", target, "--strip-components", "1"]);
  return folder;
}
