// Gives the compiled package its version: for a release (RELEASE=yes) that of package.json, otherwise one with the commit.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const file = new URL("dist/provider/api/version.js", root);
const suffix = process.env.RELEASE === "yes" ? "" : `+dev${commit()}`;
writeFileSync(file, readFileSync(file, "utf8").replace(/\+dev(?=")/, suffix));

/** `.1a2b3c4`, or `.1a2b3c4-dirty` with changes that are not committed. Empty outside of a checkout. */
function commit() {
  try {
    const args = ["describe", "--always", "--dirty", "--exclude", "*"];
    const stdio = ["ignore", "pipe", "ignore"];
    return `.${execFileSync("git", args, { cwd: root, encoding: "utf8", stdio }).trim()}`;
  } catch {
    return "";
  }
}
