// Gives the compiled package its version: for a release (RELEASE=yes) that of package.json, otherwise one with the commit. Makes
// its command executable, as npm does when it installs the package, so that `npx` finds it in a clone.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));
const file = `${root}/dist/provider/service/version.js`;
const { RELEASE = "" } = process.env;
if (!["", "yes"].includes(RELEASE)) throw new Error("RELEASE must be yes, or not set");
const suffix = RELEASE === "yes" ? "" : `+dev${commit()}`;
chmodSync(`${root}/dist/sdk/commands/main.js`, 0o755);
writeFileSync(file, readFileSync(file, "utf8").replace(/\+dev(?=")/, suffix));

/** `.1a2b3c4`, or `.1a2b3c4-dirty` with changes that are not committed. Empty outside of this repository, as in a copy in another one. */
function commit() {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const options = {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: Object.fromEntries(own),
  };
  try {
    const git = (...args) => execFileSync("git", args, options).trim();
    if (realpathSync(git("rev-parse", "--show-toplevel")) !== root) return "";
    return `.${git("describe", "--always", "--dirty", "--exclude", "*")}`;
  } catch {
    return "";
  }
}
