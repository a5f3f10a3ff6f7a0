import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { root } from "../package/pack";

/* An example works in any folder that it is copied to. */

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "examples"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n");

/** The relative paths in a file that lead out of its example. */
function pathsOutside(file: string): string[] {
  const [, example = ""] = file.split("/");
  const paths = readFileSync(join(root, file), "utf8").match(/(?<![\w.])\.\.(?:\/[\w./-]*)?(?![\w.])/g) ?? [];
  const isOutside = (path: string) =>
    !`${posix.join(posix.dirname(file), path)}/`.startsWith(`examples/${example}/`);
  return paths.filter(isOutside);
}

test("no program, setting or manifest of an example refers to a place outside of its folder", () => {
  expect(files.length).toBeGreaterThan(40);
  // The pages of the recipes link to the documentation. They are for readers, and no recipe needs them.
  const outside = files
    .filter((file) => !file.endsWith(".md"))
    .flatMap((file) => pathsOutside(file).map((path) => `${file}: ${path}`));
  expect(outside).toEqual([]);
});

/** The packages that a program imports. */
const importsOf = (file: string) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/ from "((?:@[\w-]+\/)?[a-z][\w-]*)[^"]*"/g)].map(
    ([, name = ""]) => name,
  );

test.each(files.filter((file) => file.endsWith("/package.json")))(
  "%s asks for all that its programs import, from a registry",
  (file) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, file), "utf8"));
    expect(Object.values(dependencies).filter((range) => /[:/]/.test(String(range)))).toEqual([]);
    const folder = `${posix.dirname(file)}/`;
    const programs = files.filter((one) => one.startsWith(folder) && one.endsWith(".ts"));
    const missing = programs
      .flatMap(importsOf)
      .filter((name) => name !== "node" && !(name in { ...dependencies, ...devDependencies }));
    expect(missing).toEqual([]);
  },
);
