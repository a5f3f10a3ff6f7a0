import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programError } from "./programError";

/**
 * Bun runs programs as well as Node does, but Pulumi starts Node providers with `node` whatever runs the program. Where
 * there is none, all that Pulumi says is that it could not read the plugin, so it is found out here.
 *
 * @throws RunError under Bun where no Node is on the PATH.
 */
export function assertNodeForProviders(
  versions: object = process.versions,
  path = process.env["PATH"] ?? "",
): void {
  if (!("bun" in versions)) return;
  const isThere = (folder: string) => ["node", "node.exe"].some((name) => existsSync(join(folder, name)));
  if (path.split(delimiter).some(isThere)) return;
  throw programError(
    "this program runs on Bun, but Pulumi runs its provider on Node.js, and there is no node on the PATH: install Node.js 20.18 or later beside Bun",
  );
}
