import { expect, test } from "vitest";
import { namesOf } from "../../../sdk/commands/adopt/names";

const at = (id: string, url: string) => ({ id, type: "cloud", url });

test("a name is the URL's host, with a port, and with a number if the name is already in use", () => {
  const names = {
    "shop-example-com": "http://shop.example.com",
    "shop-example-com-2": "https://shop.example.com",
    "wildcard-example-com": "https://*.example.com",
    "1-tcp-example-com-12345": "tcp://1.tcp.example.com:12345",
    "a-example-com": "https://a.example.com:443",
    "taken-example-com-2": "https://taken.example.com",
    "taken-example-com-3": "https://taken.example.com",
    "api-v2-example-com": "https://api.v2.example.com",
    "api-v2-example-com-2": "https://api-v2.example.com",
  };
  const endpoints = Object.entries(names).map(([name, url]) => at(name, url));
  const found = namesOf(endpoints, (name) => name === "taken-example-com");
  expect([...found.values()]).toEqual(Object.keys(names));
});

test("20,000 endpoints whose hosts look like numbered names get unique names", () => {
  const urls = Array.from({ length: 20_000 }, (_, index) => `https://a-${index + 1}`);
  const endpoints = [...urls, "https://a", "https://a"].map((url, index) => at(`ep_${index}`, url));
  const names = namesOf(endpoints, () => false);
  expect(new Set(names.values()).size).toBe(endpoints.length);
  expect(names.get("ep_20001")).toBe("a-20001");
});
