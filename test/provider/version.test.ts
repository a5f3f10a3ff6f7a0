import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VERSION } from "../../provider/service/version";

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  version: string;
};

test("the source has the version of the package, and does not call itself a release", () => {
  expect(VERSION).toBe(`${manifest.version}+dev`);
});
