import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adoptCommand } from "../../../../sdk/commands/adopt";
import { service } from "../../../provider/plugin/pulumi";
import { ranWith } from "../inProcess";

test("the page about adoption shows what the command writes and says", async () => {
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
  const { stdout, stderr } = await ranWith(adoptCommand, [], emulator);
  expect(page).toContain(`\`\`\`ts\n${stdout}\`\`\`\n`);
  const listed = stderr.split("\n").filter((line) => line.startsWith("  "));
  expect(page).toContain(`\`\`\`\n${listed.join("\n")}\n\`\`\`\n`);
});
