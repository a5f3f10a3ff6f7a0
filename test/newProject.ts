import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFolder } from "./folders";

/**
 * Creates the folder of a Pulumi project, without a program.
 *
 * @param settings Additional lines of Pulumi.yaml.
 */
export function newProject(name: string, settings = ""): string {
  const folder = programFolder();
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\n${runtime}${settings}`);
  writeFileSync(join(folder, "package.json"), `{"name": "${name}", "main": "index.js"}\n`);
  return folder;
}
