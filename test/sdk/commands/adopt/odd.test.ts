import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UNKNOWN } from "../../../../provider/document";
import { adoptCommand } from "../../../../sdk/commands/adopt";
import { TestStack } from "../../../../sdk/testing";
import type { Seed } from "../../../../sdk/testing/emulator";
import { service } from "../../../provider/plugin/pulumi";
import { ranWith } from "../inProcess";

const policy = JSON.stringify({ on_http_request: [] });

/** What no program can say, or not all of it. */
const odd: Record<string, Omit<Seed, "type">> = {
  "a-description": { description: "x".repeat(256) },
  "an-unknown": { description: UNKNOWN },
  "a-prototype": { metadata: '{"team":{"__proto__":{"admin":true}}}' },
  "a-key": { metadata: '{"api_key":"CANARY-12345","CANARY-12345":1}' },
  "an-unknown-policy": { traffic_policy: `{"on_http_request":["${UNKNOWN}"]}` },
  "a-broken-policy": { traffic_policy: '{"on_http_request": [' },
  "a-list-for-a-policy": { traffic_policy: "[1]" },
  "a-pulumi-policy": {
    traffic_policy: '{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}',
  },
  "two-bindings": { bindings: ["public", "public"] },
  "no-bindings": { bindings: [] },
  "a-yaml-policy": { traffic_policy: "# by hand\non_http_request:\n  - actions: [{type: deny}]\n" },
  "empty-texts": { description: "", metadata: "", traffic_policy: "" },
};

test("says what no program can say of an endpoint, and still changes none", async () => {
  const emulator = await service();
  for (const [name, seed] of Object.entries(odd))
    emulator.seed({ traffic_policy: policy, type: "cloud", url: `https://${name}.example.com`, ...seed });
  emulator.seed({ type: "cloud", id: "ep-strange", url: "https://strange.example.com" });
  for (const binding of ["public", "kubernetes"])
    emulator.seed({ type: "cloud", url: "https://twice.example.com", bindings: [binding] });
  const before = emulator.endpoints;
  const { code, stdout, stderr } = await ranWith(adoptCommand, [], emulator);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain("CANARY");

  const told = (name: string) =>
    stderr.split("\n").find((line) => line.includes(`https://${name}.example.com`));
  expect(told("a-description")).toMatch(
    /^Left out: .* description holds at most 255 characters; this one has 256/,
  );
  expect(told("an-unknown")).toMatch(/^Left out: .*means “not known yet” to Pulumi/);
  expect(told("a-prototype")).toMatch(/^Left out: .*its own use for its key __proto__/);
  expect(told("a-key")).toMatch(/^Left out: .*a secret of it stands in a key too/);
  expect(told("strange")).toMatch(/^Left out: .*adopt must be true, or an endpoint's id/);
  expect(told("twice")).toMatch(/^Left out: .*others serve its URL too, and not all of them pool/);
  expect(told("an-unknown-policy")).toMatch(
    /^Left to the service: of .* the trafficPolicy \(.*not known yet/,
  );
  expect(told("a-broken-policy")).toMatch(/^Left to the service: of .* the trafficPolicy \(.*not valid JSON/);
  expect(told("a-list-for-a-policy")).toMatch(/^Left to the service: of .* must be a mapping of phases/);
  expect(told("a-pulumi-policy")).toMatch(/^Left to the service: of .* its own use for its key/);
  expect(told("two-bindings")).toMatch(/^Left to the service: of .* the bindings \(.*give each binding once/);
  for (const name of ["no-bindings", "a-yaml-policy", "empty-texts"]) expect(told(name)).toBeUndefined();
  // Whoever reads the program learns it too.
  expect(stdout.match(/^\/\/ Not here: /gm)).toHaveLength(7);
  expect(stdout.match(/^\/\/ Left to the service: /gm)).toHaveLength(5);

  const stack = await TestStack.create({ program: projectOf(stdout), emulator });
  onTestFinished(() => stack.close());
  expect((await stack.up({ skipPreview: true })).changes).toEqual({ create: 9 });
  expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(emulator.endpoints).toEqual(before);
});

/** Where the list shows no metadata at all, only reading by id can tell whether there is some. */
test("reads one by one what the list may leave out, so that no first up clears it", async () => {
  const emulator = await service();
  emulator.seed({ type: "cloud", url: "https://a.example.com", description: "a", traffic_policy: policy });
  emulator.seed({ type: "cloud", url: "https://b.example.com", metadata: "kept by hand" });
  const items = emulator.endpoints.map(({ metadata: _onlyById, ...item }) => item);
  const body = { endpoints: items, next_page_uri: null };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  const { stdout, stderr } = await ranWith(adoptCommand, [], emulator);
  expect(stderr).toContain("No item of the list shows metadata: reading 2 endpoints one by one");
  expect(stdout).toContain('metadata: "kept by hand"');
  expect(emulator.requests).toHaveLength(3);
});

function projectOf(program: string): string {
  const programs = join(import.meta.dirname, "../../../.programs");
  mkdirSync(programs, { recursive: true });
  const folder = mkdtempSync(join(programs, "odd-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: case\nruntime: nodejs\n");
  writeFileSync(join(folder, "package.json"), '{"name": "case", "main": "index.ts"}\n');
  writeFileSync(join(folder, "index.ts"), program);
  return folder;
}
