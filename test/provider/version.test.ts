import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { majorOf, VERSION } from "../../provider/api/version";
import { dynamicProvider } from "../../provider/dynamic";
import { bothProviders, created, type Props, startDynamic } from "./bothProviders";

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  version: string;
};

test("the source has the version of the package, and does not call itself a release", () => {
  expect(VERSION).toBe(`${manifest.version}+dev`);
  expect(["12.0.1", "2.0.0+dev.1a2b3c4-dirty", "two", undefined, { toString: 1 }].map(majorOf)).toEqual([
    12,
    2,
    undefined,
    undefined,
    undefined,
  ]);
});

const NEXT_MAJOR = `${(majorOf(VERSION) ?? 0) + 1}.0.0`;
const LATER = `${majorOf(VERSION)}.99.0`;

const shop = { url: "https://shop.example.com", description: "front door" };
const later = { __later: { of: ["a", "note"] }, zone: "eu", __version: LATER };
/** The signature of secrets in Pulumi's protocol. */
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

describe.each(bothProviders)("the state of %s", (_, start) => {
  test("names the version that wrote it, which alone is never a difference", async () => {
    const provider = await created(start, shop);
    expect(provider.outs).toMatchObject({ __version: VERSION });
    for (const __version of ["0.0.9", LATER, "unreadable"]) {
      const olds = { ...provider.outs, __version };
      expect(await provider.diff(provider.id, olds, provider.inputs)).toMatchObject({ changes: false });
      expect((await provider.read(provider.id, olds, provider.inputs)).props?.["__version"]).toBe(__version);
    }
  });

  test("keeps the notes and fields of a later version through reads and updates, and its secrets secret", async () => {
    const { id, inputs, ...provider } = await created(start, shop);
    const before: Props = { ...provider.outs, ...later, __secrets: ["zone"] };
    expect((await provider.read(id, before, inputs)).props).toMatchObject({ __later: later.__later });
    const { inputs: changed } = await provider.check(inputs, { ...shop, description: "back door" });
    const { inputs: more } = await provider.check(inputs, { ...shop, bindings: ["public"] });
    for (const [news, request] of [
      [changed, "PATCH"],
      [more, "none"],
    ] as const) {
      const requests = provider.emulator.requests.length;
      const { outs } = await provider.update(id, before, news);
      expect(provider.emulator.requests[requests]?.method ?? "none").toBe(request);
      expect(outs).toMatchObject({ __later: later.__later, __version: VERSION });
      expect(JSON.stringify(outs["zone"])).toContain(SECRET);
      expect(JSON.stringify(outs["description"])).not.toContain(SECRET);
    }
  });

  test("keeps what a later version noted of inputs and choices, and its fields of the mark", async () => {
    const { id, inputs, outs, ...provider } = await created(start, shop);
    const before: Props = {
      ...outs,
      __given: [...(outs["__given"] as string[]), "zone"],
      __chosen: { ...(outs["__chosen"] as object), zone: "eu" },
    };
    const kept = {
      __given: expect.arrayContaining(["zone"]),
      __chosen: expect.objectContaining({ zone: "eu" }),
    };
    expect(await provider.diff(id, before, inputs)).toMatchObject({ changes: false });
    expect((await provider.read(id, before, inputs)).props).toMatchObject(kept);
    for (const change of [{ description: "back door" }, { bindings: ["public"] }]) {
      const { inputs: news } = await provider.check(inputs, { ...shop, ...change });
      expect((await provider.update(id, before, news)).outs).toMatchObject(kept);
    }
    for (const { body } of provider.emulator.requests)
      expect(JSON.stringify(body ?? "")).not.toContain("zone");
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

  test("is refused without a request if a later major version wrote it", async () => {
    const { id, inputs, outs, ...provider } = await created(start, shop);
    const newer = { ...outs, __version: NEXT_MAJOR };
    const requests = provider.emulator.requests.length;
    for (const run of [
      () => provider.diff(id, newer, inputs),
      () => provider.read(id, newer, inputs),
      () => provider.update(id, newer, { ...inputs, description: "back door" }),
      () => provider.delete(id, newer),
    ])
      await expect((async () => run())()).rejects.toThrow(
        `The state of ${id} was written by pulumi-endpoints ${NEXT_MAJOR}, and ${VERSION} is too old to read it.`,
      );
    expect(provider.emulator.requests.length).toBe(requests);
  });
});

test("a later version's properties become secret on the way from the plugin to the dynamic provider", async () => {
  const { id, inputs, outs, emulator } = await created(startDynamic, shop);
  const { __provider: _, ...fromPlugin }: Props = { ...outs, zone: "canary", __later: "canary" };
  const provider = dynamicProvider();
  const config: Record<string, string> = { apiKey: emulator.apiKey, baseUrl: emulator.baseUrl };
  provider.configure({ config: { get: (key) => config[key.replace("endpoints:", "")] } });
  const { outs: moved } = await provider.update(id, fromPlugin, { ...inputs, __provider: "code" });
  expect(moved["__secrets"]).toEqual(["__later", "zone"]);
  for (const name of ["zone", "__later"]) expect(JSON.stringify(moved[name])).toContain(SECRET);
  for (const name of ["__entry", "__given", "description"])
    expect(JSON.stringify(moved[name])).not.toContain(SECRET);
});
