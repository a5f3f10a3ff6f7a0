import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../provider/api/version";
import { bothProviders, created, type Props } from "./bothProviders";

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

  test("keeps the fields that a later version added to the mark, in the state and on the service", async () => {
    const { emulator, check, create, update } = await start({ settings: { mark: "team/dev" } });
    const owned = { ...shop, __urn: "urn:pulumi:dev::shop::endpoints:index:CloudEndpoint::shop" };
    const { inputs } = await check({}, { ...owned, metadata: { team: "shop" } });
    const { id, outs } = await create(inputs);
    const before: Props = { ...outs, __mark: { ...(outs["__mark"] as object), zone: "eu" } };
    const { inputs: news } = await check(inputs, { ...owned, metadata: { team: "other" } });
    expect((await update(id, before, news)).outs["__mark"]).toMatchObject({ zone: "eu" });
    expect(JSON.stringify(emulator.requests.at(-1)?.body)).toContain("zone");
  });
});
