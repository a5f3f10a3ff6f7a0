import { expect, test } from "vitest";
import { proxyFor } from "../../../provider/service/proxy";

const PROXY = "http://proxy:3128";

test.each<[NodeJS.ProcessEnv, baseUrl: string, proxy: string | undefined]>([
  [{}, "https://a.example.com", undefined],
  [{ HTTP_PROXY: "proxy:3128" }, "http://a.example.com", PROXY],
  [{ HTTP_PROXY: PROXY }, "https://a.example.com", PROXY],
  [{ HTTPS_PROXY: PROXY }, "http://a.example.com", undefined],
  [{ HTTP_PROXY: "http://other:1", https_proxy: PROXY }, "https://a.example.com", PROXY],
  [{ HTTP_PROXY: "http://other:1", http_proxy: PROXY }, "http://a.example.com", PROXY],
])("the environment %j has for %s the proxy %s", (environment, baseUrl, proxy) =>
  expect(proxyFor(baseUrl, environment)).toBe(proxy),
);

test("an empty no_proxy does not hide NO_PROXY", () =>
  expect(proxyFor("https://a.example.com", { HTTPS_PROXY: PROXY, no_proxy: "", NO_PROXY: "*" })).toBe(
    undefined,
  ));

test.each(["socks5://proxy:1080", "http://", "::"])("%j is named at once", (written) =>
  expect(() => proxyFor("https://a.example.com", { HTTPS_PROXY: written })).toThrow(
    /^HTTPS_PROXY is not the URL of an HTTP proxy, such as http:/,
  ),
);

test.each<[list: string, baseUrl: string, isDirect: boolean]>([
  ["*", "https://a.example.com", true],
  ["foo,*", "https://a.example.com", true],
  ["example.com", "https://a.example.com", true],
  [".example.com", "https://a.example.com", true],
  ["*.example.com", "https://a.example.com", true],
  ["example.com", "https://badexample.com", false],
  ["a.example.com:8080", "https://a.example.com:8080", true],
  ["a.example.com:8080", "https://a.example.com", false],
  ["a.example.com:443", "https://a.example.com", true],
  ["10.0.0.0/8", "http://10.1.2.3", true],
  ["10.0.0.0/8", "http://11.1.2.3", false],
  ["10.0.0.0/64", "http://10.1.2.3", false],
  ["fd00::/8", "http://[fd12::1]", true],
  ["::1", "http://[::1]:8080", true],
  ["[::1]", "http://[::1]:8080", true],
  ["[::1]:8080", "http://[::1]:8080", true],
  ["[fd00::1]:81", "http://[fd00::1]:8080", false],
  ["localhost 127.0.0.1", "http://127.0.0.1:80", true],
  ["", "http://127.0.0.1:4040", true],
  ["", "http://localhost:4040", true],
  ["", "http://[::1]:4040", true],
  ["", "https://a.example.com", false],
])("NO_PROXY=%s for %s: direct %s", (NO_PROXY, baseUrl, isDirect) =>
  expect(proxyFor(baseUrl, { HTTP_PROXY: PROXY, NO_PROXY })).toBe(isDirect ? undefined : PROXY),
);
