import { type FetchOptions, signWebhook, TestStack, traceText } from "pulumi-endpoints/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let stack: TestStack;

beforeAll(async () => {
  stack = await TestStack.create({ program: __dirname, driver: "kit" });
  await stack.up({ skipPreview: true });
  // The shop is behind an agent, which the program does not manage. Here, a function stands in for it.
  stack.emulator.connect("https://shop.internal", (request) => {
    return new Response(`user: ${request.headers.get("x-user")}`);
  });
}, 60_000);

afterAll(() => stack?.close());

const inGermany = { conn: { client_ip: { geo: { location: { is_eu: true } } } } };
const elsewhere = { conn: { client_ip: { geo: { location: { is_eu: false } } } } };
const webhook = { method: "POST", body: "{}", vaults: { hooks: { github: "a secret" } } };
const signature = signWebhook("github", { body: "{}", secret: "a secret" });

test.each<[what: string, path: string, options: FetchOptions, status: number, more?: string]>([
  ["the front page", "/", {}, 200],
  ["the health check", "/healthz", {}, 200, "ok"],
  ["an administrator in the office", "/admin", { clientIp: "203.0.113.7" }, 200],
  ["an administrator at home", "/admin", { clientIp: "198.51.100.1" }, 403],
  ["a download in Germany", "/downloads/a.zip", inGermany, 200],
  ["a download elsewhere", "/downloads/a.zip", elsewhere, 451],
  ["an old address", "/v1/items?page=2", {}, 308, "https://gateway.example.com/v2/items?page=2"],
  ["a signed webhook", "/hooks/github", { ...webhook, headers: signature }, 200],
  ["a forged webhook", "/hooks/github", webhook, 403],
  ["a client that claims to be a user", "/", { headers: { "X-User": "admin" } }, 200, "user: null"],
])("%s: %s", async (_, path, options, status, more) => {
  const reply = await stack.emulator.fetch(`https://gateway.example.com${path}`, options);
  expect(reply.status, traceText(reply.trace)).toBe(status);
  if (more) expect(reply.headers.get("location") ?? (await reply.text())).toBe(more);
});
