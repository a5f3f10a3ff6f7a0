import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { resolveFrom } from "../engine/processes";
import { readProject } from "../engine/project";

const folder = mkdtempSync(join(tmpdir(), "project-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("readProject reads main, and the values, defaults and secrets of the configuration", () => {
  writeFileSync(
    join(folder, "Pulumi.yaml"),
    "name: p\nmain: src/main.ts\nconfig:\n  a: 1\n  b: { default: x }\n  c: { value: hush, secret: true }\n  other:d: { value: { e: 1 } }\n",
  );
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/main.ts"), "");
  const { config, plugins, ...project } = readProject(folder);
  expect(project).toMatchObject({ name: "p", root: folder, folder: join(folder, "src"), entry: "main.ts" });
  expect(plugins.size).toBe(0);
  expect(config).toEqual({ "p:a": "1", "p:b": "x", "p:c": { secret: "hush" }, "other:d": '{"e":1}' });
});

test("a program without an installed SDK fails with a message that advises an installation", () => {
  expect(() => resolveFrom(folder, "@pulumi/pulumi/cmd/run")).toThrow(
    `@pulumi/pulumi/cmd/run is not installed in ${folder} or above it: run npm install there first`,
  );
});
