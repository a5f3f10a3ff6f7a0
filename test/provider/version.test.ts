import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../provider/api/version";
import { bothProviders, created } from "./bothProviders";

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  version: string;
};

test("the source has the version of the package, and does not call itself a release", () => {
  expect(VERSION).toBe(`${manifest.version}+dev`);
});

const shop = { url: "https://shop.example.com", description: "front door" };

describe.each(bothProviders)("the state of %s", (_, start) => {
  test("names the version that wrote it, which alone is never a difference", async () => {
    const provider = await created(start, shop);
    expect(provider.outs).toMatchObject({ __version: VERSION });
    for (const __version of ["0.0.9", "99.0.0", "unreadable"]) {
      const olds = { ...provider.outs, __version };
      expect(await provider.diff(provider.id, olds, provider.inputs)).toMatchObject({ changes: false });
      expect((await provider.read(provider.id, olds, provider.inputs)).props?.["__version"]).toBe(__version);
    }
  });
});
