import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { programFolder } from "../folders";
import { root } from "../package/pack";

/** Files that a run of an example leaves in its folder. */
const LEFTOVERS = ["node_modules", "sdks", "venv", "__pycache__"];

/** Copies an example, because the CLI writes its settings beside the program. This repository is installed in the copy. */
export function copyOf(example: string): string {
  const folder = programFolder();
  cpSync(join(root, "examples", example), folder, {
    recursive: true,
    filter: (file) => !LEFTOVERS.includes(basename(file)),
  });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "pulumi-endpoints"));
  return folder;
}
