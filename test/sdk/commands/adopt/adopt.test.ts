import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adoptCommand } from "../../../../sdk/commands/adopt";
import { importFileCommand } from "../../../../sdk/commands/importFile";
import { service } from "../../../provider/plugin/pulumi";
import { runInProcess } from "../runCommand";
import { oddLines, seedOdd } from "./oddEndpoints";

test("fields and endpoints that a program cannot express are reported in the log and in the program", async () => {
  const emulator = await service();
  seedOdd(emulator);
  const { code, stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain("CANARY");
  const lines = stderr.split("\n");
  for (const [host, line] of Object.entries(oddLines)) {
    const logged = lines.find((line) => line.includes(`https://${host}.example.com`)) ?? "";
    expect(logged, host).toMatch(line);
  }
  expect(stdout.match(/^\/\/ Left out: /gm)).toHaveLength(10);
  expect(stdout.match(/^\/\/ Left to the service: /gm)).toHaveLength(7);
});

test("a policy in YAML with merge keys is written as the merged data", async () => {
  const emulator = await service();
  const policy = `
common: &deny { type: deny, config: { status_code: 404 } }
on_http_request:
  - actions: [{ <<: *deny, name: first }]
  - actions: [*deny]
`;
  emulator.seed({ type: "cloud", url: "https://a.example.com", traffic_policy: policy });
  const { code, stdout } = await runInProcess(adoptCommand, [], emulator);
  expect(code).toBe(0);
  expect(stdout).not.toContain("<<");
  expect(stdout).toContain('{ actions: [{ type: "deny", config: { status_code: 404 }, name: "first" }] }');
});

test.each([
  ["# a\na: 1", true],
  ["a: 1 # a", true],
  ["a: | # a\n  b", true],
  ["a: |\n  # no comment\nb: '# none'\nc: x#y", false],
  ['{"a":"# none"}', false],
])(
  "the comments of a policy in YAML are said to stay behind, and nothing else is: %j",
  async (policy, isTold) => {
    const emulator = await service();
    const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com", traffic_policy: policy });
    const line = `Left to the service: the comments in the YAML of trafficPolicy, which the first change of the policy drops, of ${id} (https://a.example.com)\n`;
    for (const command of [adoptCommand, importFileCommand]) {
      const { stderr } = await runInProcess(command, [], emulator);
      expect(stderr.includes(line)).toBe(isTold);
      expect(stderr).not.toContain("Check the code");
    }
  },
);

test("fields that the list may omit are read by id, so that the first up does not clear them", async () => {
  const emulator = await service();
  const policy = '{"on_http_request":[]}';
  emulator.seed({ type: "cloud", url: "https://a.example.com", description: "a", traffic_policy: policy });
  emulator.seed({ type: "cloud", url: "https://b.example.com", metadata: "kept by hand" });
  const items = emulator.endpoints.map(({ metadata: _onlyById, ...item }) => item);
  const body = { endpoints: items, next_page_uri: null };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  const { stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  expect(stderr).toContain("Reading 2 endpoints by id, because lists may leave out metadata");
  expect(stdout).toContain('metadata: "kept by hand"');
  expect(emulator.requests).toHaveLength(3);
});

test("the documentation shows the program and the log of a real run", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/adoption.md"), "utf8");
  const emulator = await service();
  const deny = { type: "deny", config: { status_code: 404 } };
  emulator.seed({
    type: "cloud",
    id: "ep_2def",
    url: "https://shop.example.com",
    description: "front door",
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [deny] }] }),
  });
  const verify = { type: "verify-webhook", config: { provider: "brex", secret: "whsec_CANARY" } };
  const forward = { type: "forward-internal", config: { url: "https://shop.internal" } };
  emulator.seed({
    type: "cloud",
    id: "ep_2abc",
    url: "https://hooks.example.com",
    metadata: '{"team":"shop"}',
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [verify, forward] }] }),
  });
  const { stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  expect(page).toContain(`\`\`\`ts\n${stdout}\`\`\`\n`);
  const listed = stderr.split("\n").filter((line) => line.startsWith("  "));
  expect(page).toContain(`\`\`\`\n${listed.join("\n")}\n\`\`\`\n`);
});

test("import-file warns about each endpoint whose code would be wrong, such as for a number beyond 2^53", async () => {
  const emulator = await service();
  const policy = '{"on_http_request":[{"actions":[{"type":"deny","config":{"n":9007199254740993}}]}]}';
  const { id } = emulator.seed({ type: "cloud", url: "https://big.example.com", traffic_policy: policy });
  emulator.seed({ type: "cloud", url: "https://fine.example.com", traffic_policy: '{"on_http_request":[]}' });
  const { code, stdout, stderr } = await runInProcess(importFileCommand, [], emulator);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).resources).toHaveLength(2);
  const warnings = stderr.split("\n").filter((line) => line.includes("Check the code"));
  expect(warnings).toEqual([expect.stringContaining(`${id} (https://big.example.com)`)]);
  expect(warnings[0]).toMatch(
    /trafficPolicy .*leave it out \(--except ep_\w+\), or change it on the service first$/,
  );
});

test("import-file leaves out an endpoint whose metadata has the mark's key in another form", async () => {
  const emulator = await service();
  const metadata = '{"pulumi-endpoints":"by hand"}';
  const { id } = emulator.seed({ type: "cloud", url: "https://odd.example.com", metadata });
  const fine = emulator.seed({ type: "cloud", url: "https://fine.example.com" });
  const { code, stdout, stderr } = await runInProcess(importFileCommand, [], emulator);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).resources).toMatchObject([{ id: fine.id }]);
  expect(stderr).toContain(
    `Left out: ${id} (https://odd.example.com): its metadata has the key pulumi-endpoints`,
  );
  expect(stderr).toContain("Selected: 1 endpoint");
});

test("import-file warns that code shows a secret, without predicting a failure", async () => {
  const emulator = await service();
  const metadata = '{"api_key":"CANARY-12345","CANARY-12345":1}';
  emulator.seed({ type: "cloud", url: "https://key.example.com", metadata, traffic_policy: "{}" });
  const { stderr } = await runInProcess(importFileCommand, [], emulator);
  expect(stderr).toMatch(/\(https:\/\/key\.example\.com\).*one of its keys contains a secret/);
  expect(stderr).not.toContain("fails");
});
