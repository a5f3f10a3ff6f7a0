import { afterEach, describe, expect, test, vi } from "vitest";
import { UNKNOWN } from "../../../provider/endpoint/documents";
import { bothProviders, type Props } from "../bothProviders";
import { service } from "../service";

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

  const kubernetes = ["kubernetes"];
  // biome-ignore format: one line for each refusal
  const refused: [what: string, inputs: object, warning: RegExp][] = [
    ["two bindings", { url, bindings: ["public", "internal"] }, /bindings has 2 names, .* takes one/],
    ["https with the binding kubernetes", { url: "https://app.prod", bindings: kubernetes }, /binding kubernetes takes no https \(error 18018\); use http or tcp/],
    ["a name of three parts with the binding kubernetes", { url: "http://app.eu.prod", bindings: kubernetes }, /host of the form name\.namespace/],
    ["a wildcard with the binding kubernetes", { url: "http://*.prod", bindings: kubernetes }, /host of the form name\.namespace/],
    ["a public http endpoint on another port", { url: "http://shop.example.com:8080" }, /public http endpoints only on port 80 \(error 18023\)/],
    ["a public https endpoint on another port", { url: "https://shop.example.com:8443", bindings: ["public"] }, /only on port 443/],
    ["a public tls endpoint on another port", { url: "tls://shop.example.com:80" }, /public tls endpoints only on port 443/],
    ["a public endpoint with an internal host", { url: "tcp://db.internal:5432", bindings: ["public"] }, /hosts that end in \.internal only with the binding internal/],
    ["an internal endpoint with a public host", { url, bindings: ["internal"] }, /binding internal, .* host that ends in \.internal/],
    ["a public host with an underscore", { url: "https://my_shop.example.com" }, /no underscores in a host \(error 355\)/],
    ["a public host that is no domain", { url: "https://localhost" }, /public host must be a domain/],
    ["a public host that is an address", { url: "http://192.0.2.1" }, /public host must be a domain/],
    ["a public host that is an address of version 6", { url: "https://[2001:db8::1]" }, /public host must be a domain/],
  ];
  test.each(refused)("warns of what the public service refuses: %s", async (_, inputs, warning) => {
    const news = { trafficPolicy: UNKNOWN, ...inputs };
    for (const olds of [{}, { url: "https://old.example.com", trafficPolicy }]) {
      const { check, logged } = await start(onPublicService);
      const before = logged().length;
      expect((await check(olds, news)).failures).toEqual([]);
      expect(logged().slice(before)).toEqual([expect.stringMatching(warning)]);
    }
  });

  test.each(refused)(
    "does not warn of %s if the service has it already, or is another one",
    async (_, inputs) => {
      const news: Props = { trafficPolicy: UNKNOWN, ...inputs };
      const { check, logged } = await start(onPublicService);
      await check(news, { ...news, description: "new" });
      const elsewhere = await start();
      await elsewhere.check({}, news);
      expect([...logged(), ...elsewhere.logged()]).toEqual([]);
    },
  );

  // biome-ignore format: one line for each address
  test.each([
    ["http://shop.example.com:80"], ["https://SHOP.example.com:443"], ["https://*.example.com"], ["tls://shop.example.com"],
    ["tcp://1.tcp.example.com:12345"], ["http://app.internal:8080"], ["https://a.b.c.app.internal:8443"],
    ["tls://*.app.internal:99"], ["tcp://db.internal:5432"], ["https://app_1.internal"], ["https://xn--bcher-kva.example"],
    ["http://app.prod:8080", "kubernetes"], ["tcp://app.prod:5432", "kubernetes"], ["tls://app.prod", "kubernetes"],
    ["https://app.internal:8443", "internal"], ["https://shop.example.com", "public"], ["https://anything:8443", "edge-of-the-world"],
    ["https://shop.example.com:8443", UNKNOWN],
  ])("does not warn of %s with the binding %s", async (url, ...bindings) => {
    const { check, logged } = await start(onPublicService);
    expect((await check({}, { url, trafficPolicy: UNKNOWN, ...(bindings.length > 0 && { bindings }) })).failures).toEqual([]);
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
