import { afterEach, describe, expect, test, vi } from "vitest";
import { UNKNOWN } from "../../provider/document";
import { bothProviders } from "./bothProviders";
import { service } from "./service";

afterEach(() => vi.restoreAllMocks());

const url = "https://shop.example.com";
const trafficPolicy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const POLICY = `${url}: trafficPolicy is missing, and the public service refuses to create a cloud endpoint without one`;

describe.each(bothProviders)("%s", (_, start) => {
  test.each([
    ["description", "é".repeat(128), /description is within 255 characters, but has 256 bytes/],
    ["description", "é".repeat(255), /has 510 bytes/],
    ["metadata", "€".repeat(1_366), /metadata is within 4096 characters, but has 4098 bytes/],
    ["metadata", { note: "é".repeat(2_048) }, /has 4107 bytes/],
  ])("warns of a %s that has few enough characters, but too many bytes", async (name, value, text) => {
    const { check, logged } = await start();
    const { failures } = await check({}, { url, [name]: value });
    expect(failures).toEqual([]);
    expect(logged()).toEqual([expect.stringMatching(text)]);
    expect(logged().join()).toMatch(/the service may count bytes; if it refuses it, shorten it$/);
    expect(logged().join()).not.toMatch(/é|€/);
  });

  test.each([
    ["of 255 bytes in fewer characters", { description: `${"é".repeat(127)}x` }],
    ["of 255 letters", { description: "x".repeat(255) }],
    ["that is unknown", { description: UNKNOWN, metadata: UNKNOWN }],
    ["with an unknown part", { metadata: { a: UNKNOWN, b: "é".repeat(2_048) } }],
  ])("does not warn of a text %s", async (_, texts) => {
    const { check, logged } = await start();
    expect((await check({}, { url, ...texts })).failures).toEqual([]);
    expect(logged()).toEqual([]);
  });

  test("warns of a misspelt binding, but not of an unknown one", async () => {
    const { check, logged } = await start();
    for (const bindings of [["publik"], ["edge-of-the-world"], ["kubernetes"]])
      expect((await check({}, { url, bindings })).failures).toEqual([]);
    expect(logged()).toEqual([
      expect.stringContaining(
        "bindings has a name that the public service does not know; did you mean public?",
      ),
    ]);
  });

  const onPublicService = { settings: { baseUrl: "https://api.ngrok.com" } };

  test("warns once of a missing policy before a create on the public service", async () => {
    const { check, logged } = await start(onPublicService);
    for (let times = 0; times < 2; times++) expect((await check({}, { url })).failures).toEqual([]);
    await check({}, { url: "https://other.example.com" });
    expect(logged()).toEqual([
      expect.stringContaining(POLICY),
      expect.stringContaining("https://other.example.com: trafficPolicy is missing"),
    ]);
  });

  test.each([
    ["with a policy", {}, { url, trafficPolicy }],
    ["with an unknown policy", {}, { url, trafficPolicy: UNKNOWN }],
    ["that exists already", { url }, { url, description: "new" }],
  ])("does not warn of a missing policy of an endpoint %s", async (_, olds, news) => {
    const { check, logged } = await start(onPublicService);
    expect((await check(olds, news)).failures).toEqual([]);
    expect(logged()).toEqual([]);
  });

  test("does not show Pulumi's placeholder for an unknown URL", async () => {
    const { check, logged } = await start(onPublicService);
    await check({}, { url: UNKNOWN });
    expect(logged()).toEqual([
      expect.stringMatching(/^an endpoint whose URL is not known yet: trafficPolicy is missing/),
    ]);
  });

  test("does not warn of a missing policy on another service, or for an adoption there", async () => {
    const { check, logged, emulator } = await start();
    const { id } = emulator.seed({ type: "cloud", url });
    await check({}, { url, adopt: id });
    await check({}, { url: "https://new.example.com" });
    expect(logged().join()).not.toContain("trafficPolicy");
  });
});

test("a warning comes once in a run, and not again after the service accepted the text", async () => {
  const { core, newProcess, logged } = await service();
  const description = "é".repeat(255);
  const { inputs } = await core.check({}, { url, description });
  await core.check({}, { url, description });
  expect(logged).toHaveLength(1);
  const next = newProcess();
  await next.core.check(inputs, { url, description, bindings: ["public"] });
  expect(logged).toHaveLength(1);
  await next.core.check(inputs, { url, description: "ü".repeat(255) });
  expect(logged).toHaveLength(2);
});
