import { afterEach, describe, expect, test, vi } from "vitest";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { bothProviders } from "../bothProviders";

afterEach(() => vi.restoreAllMocks());

const url = "https://shop.example.com";
const trafficPolicy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const POLICY = `${url}: trafficPolicy is missing, and the public service refuses to create a cloud endpoint without one`;

describe.each(bothProviders)("%s", (_, start) => {
  test("warns once of a misspelt binding, but not of an unknown one", async () => {
    const { check, logged } = await start();
    for (const bindings of [["publik"], ["publik"], ["edge-of-the-world"], ["kubernetes"], UNKNOWN])
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
