import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readProject } from "../../../../sdk/testing/engine/project";

const folder = mkdtempSync(join(tmpdir(), "project-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a project without plugins is read, and configuration keeps its values, defaults and secrets", () => {
  writeFileSync(
    join(folder, "Pulumi.yaml"),
    "name: p\nconfig:\n  a: 1\n  b: { default: x }\n  c: { value: hush, secret: true }\n  other:d: { value: { e: 1 } }\n",
  );
  const { name, entry, plugins, config } = readProject(folder);
  expect({ name, entry, plugins: [...plugins] }).toEqual({ name: "p", entry: ".", plugins: [] });
  expect(config).toEqual({ "p:a": "1", "p:b": "x", "p:c": { secret: "hush" }, "other:d": '{"e":1}' });
});
