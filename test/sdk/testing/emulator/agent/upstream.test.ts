import { expect, test } from "vitest";
import { upstreamUrl } from "../../../../../sdk/testing/emulator/agent/upstream";

test.each([
  [8080, "http://127.0.0.1:8080/"],
  ["8080", "http://127.0.0.1:8080/"],
  ["localhost:8080", "http://localhost:8080/"],
  ["app.internal", "http://app.internal/"],
  ["[::1]:8080", "http://[::1]:8080/"],
  ["http://localhost:8080/", "http://localhost:8080/"],
  ["https://[::1]:8443", "https://[::1]:8443/"],
])("%s leads to %s", (upstream, url) => {
  expect(upstreamUrl(upstream).href).toBe(url);
});

test.each([
  ["", /must be a port/],
  [70_000, /must be a port/],
  ["https://", /must be a port/],
  ["tcp://localhost:80", /must be a port/],
  ["localhost:80/a", /has a path/],
  ["http://localhost:80?a", /has a path/],
  ["http://localhost:80#a", /has a path/],
])("%s is told in words", (upstream, words) => {
  expect(() => upstreamUrl(upstream)).toThrow(words);
});
