import fc from "fast-check";
import { expect, test } from "vitest";
import { namesOf } from "../../../sdk/commands/names";

const nothingReserved = () => false;
const at = (id: string, url: string) => ({ id, type: "cloud", url });

test("a name consists of the URL's host, and of its port if that is not the scheme's default", () => {
  const urls = [
    "https://shop.example.com",
    "https://*.example.com",
    "tcp://1.tcp.example.com:12345",
    "https://a.example.com:443",
  ];
  const names = namesOf(
    urls.map((url, index) => at(`ep_${index}`, url)),
    nothingReserved,
  );
  expect(urls.map((_, index) => names.get(`ep_${index}`))).toEqual([
    "shop-example-com",
    "wildcard-example-com",
    "1-tcp-example-com-12345",
    "a-example-com",
  ]);
});

test("equal names are told apart by the scheme, or by a number if the scheme is equal, too", () => {
  const endpoints = [
    at("ep_a", "https://shop.example.com"),
    at("ep_b", "http://shop.example.com"),
    at("ep_123456", "https://pool.example.com"),
    at("ep_987654", "https://pool.example.com"),
    at("ep_c", "https://pool.example.com.internal"),
    at("ep_d", "https://api.v2.example.com"),
    at("ep_e", "https://api-v2.example.com"),
  ];
  expect(Object.fromEntries(namesOf(endpoints, (name) => name === "pool-example-com-internal"))).toEqual({
    ep_a: "shop-example-com-https",
    ep_b: "shop-example-com-http",
    ep_123456: "pool-example-com-1",
    ep_987654: "pool-example-com-2",
    ep_c: "pool-example-com-internal-https",
    ep_d: "api-v2-example-com-1",
    ep_e: "api-v2-example-com-2",
  });
});

test("names are unique and never reserved ones, for any endpoints", () => {
  const host = fc.constantFrom("a.b", "a-b", "a.b-https", "*.a", "wildcard.a", "xn--a", "[::1]", "");
  const endpoint = fc.record({
    id: fc.stringMatching(/^[\w-]{1,4}$/),
    scheme: fc.constantFrom("https", "http"),
    host,
  });
  fc.assert(
    fc.property(fc.uniqueArray(endpoint, { selector: ({ id }) => id }), host, (found, reserved) => {
      const endpoints = found.map(({ id, scheme, host }) => at(id, `${scheme}://${host}`));
      const names = namesOf(endpoints, (name) => name === reserved);
      expect(new Set(names.values()).size).toBe(endpoints.length);
      expect([...names.values()]).not.toContain(reserved);
    }),
  );
});

test("20,000 endpoints whose hosts look like numbered names get unique names", () => {
  const urls = Array.from({ length: 20_000 }, (_, index) => `https://a-${index + 1}`);
  const endpoints = [...urls, "https://a", "https://a"].map((url, index) => at(`ep_${index}`, url));
  const names = namesOf(endpoints, nothingReserved);
  expect(new Set(names.values()).size).toBe(endpoints.length);
  expect(names.get("ep_20001")).toBe("a-20002");
});
