import { expect, test } from "vitest";
import { normalizeUrl, urlProblem } from "../../../provider/data/index";
import { schemeDiffers } from "../../../provider/service/url";

test.each([
  ["HTTPS://Shop.Example.COM/", "https://shop.example.com"],
  ["https://shop.example.com:443", "https://shop.example.com"],
  ["http://shop.example.com:443", "http://shop.example.com:443"],
  ["https://*.Example.com", "https://*.example.com"],
  ["https://bücher.example", "https://xn--bcher-kva.example"],
  ["tls://[::1]:9000", "tls://[::1]:9000"],
])("%s is normalized to %s", (given, normal) => {
  expect(normalizeUrl(given)).toBe(normal);
  expect(urlProblem(given)).toBeUndefined();
  expect(normalizeUrl(normal)).toBe(normal);
});

test.each([
  ["", /^is empty; write scheme and host/],
  ["shop.example.com", /not a URL; write scheme and host/],
  ["ftp://shop.example.com", /a scheme that no endpoint serves; write http, https, tls or tcp/],
  ["https://shop.example.com/cart", /path, query or fragment/],
  ["https://user:hunter2@shop.example.com", /contains credentials/],
  ["tcp://1.tcp.example.com", /tcp needs one/],
  ["https://shop.example.com:70000", /1 to 65535/],
  ["https://shop.example.com:http", /1 to 65535/],
  ["https://", /no usable host/],
  ["https://a.*.example.com", /wildcard in the wrong place/],
])("%s is refused with the reason", (given, reason) => {
  expect(urlProblem(given)).toMatch(reason);
  expect(urlProblem(given)).not.toContain("hunter2");
  expect(normalizeUrl(given)).toBeUndefined();
});

test("schemes differ only if both texts are URLs; letter case does not matter", () => {
  expect(schemeDiffers("TLS://x", "tls://y")).toBe(false);
  expect(schemeDiffers("tls://x", "https://x")).toBe(true);
  expect(schemeDiffers("tls://x", "no URL")).toBe(false);
  expect(schemeDiffers(undefined, "tls://x")).toBe(false);
});
