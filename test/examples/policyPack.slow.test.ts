import { execFile } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { TYPES } from "../../provider/api/typeTokens";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { thrown } from "../provider/world";

/* Needs the full build: Pulumi compiles the pack with its types. */

const cli = await findPulumiCli();

/** What a run printed that failed. */
async function failed(run: Promise<unknown>): Promise<string> {
  const { stdout, stderr } = (await thrown(run)) as Error & { stdout: string; stderr: string };
  return stdout + stderr;
}

test.runIf(cli).each(Object.keys(TYPES))(
  "the CLI refuses an endpoint that violates a copy of the policy pack, and finds the violations of an exported state, with the %s provider",
  async (kind) => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const folder = temporaryFolder();
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const plugin = join(root, "provider", "plugin");
    writeFileSync(
      join(folder, "Pulumi.yaml"),
      `name: pack\nruntime: nodejs\nmain: index.js\nplugins: { providers: [{ name: endpoints, path: ${plugin} }] }\n`,
    );
    writeFileSync(
      join(folder, "index.js"),
      `const { CloudEndpoint } = require("pulumi-endpoints");
const credentials = [require("@pulumi/pulumi").secret("user:password")];
new CloudEndpoint("shop", { url: "https://shop.example.com" });
new CloudEndpoint("api", {
  url: "https://api.example.com",
  metadata: { owner: "api" },
  trafficPolicy: { on_http_request: [{ actions: [{ type: "basic-auth", config: { credentials } }] }] },
});
for (const status_code of [403, 404]) new CloudEndpoint("pool-" + status_code, {
  url: "https://pool.example.com",
  poolingEnabled: true,
  metadata: { owner: "pool" },
  trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code } }] }] },
});`,
    );
    const pack = join(folder, "policies");
    const isOwn = (path: string) => !path.includes("node_modules", root.length);
    cpSync(join(root, "examples", "policy-pack"), pack, { recursive: true, filter: isOwn });
    const env = {
      ...process.env,
      PATH: `${dirname(cli ?? "")}${delimiter}${process.env["PATH"]}`,
      PULUMI_BACKEND_URL: `file://${folder}`,
      PULUMI_CONFIG_PASSPHRASE: "x",
      PULUMI_HOME: join(folder, "home"),
      ENDPOINTS_API_KEY: emulator.apiKey,
      ENDPOINTS_BASE_URL: emulator.baseUrl,
      ENDPOINTS_PROVIDER: kind,
    };
    const run = (args: string[], more: Record<string, string | undefined> = {}) =>
      promisify(execFile)(cli ?? "", args, { cwd: folder, env: { ...env, ...more } });
    const ofShop = /\[mandatory\]\s+endpoint-has-owner[\s\S]*public-endpoint-is-restricted/;
    const ofApi = /api\.example\.com: credentials of basic-auth is in plain text/;
    const ofPool = /pool\.example\.com is a pool whose endpoints have different policies/;
    await run(["stack", "init", "dev"]);
    const refused = await failed(run(["preview", "--policy-pack", "policies"]));
    expect(refused).toMatch(ofShop);
    expect(refused).toMatch(ofApi);

    await run(["up", "--yes", "--skip-preview"]);
    await run(["stack", "export", "--file", "state.json"]);
    const analyze = ["policy", "analyze", "--file", "state.json", "--policy-pack", "policies"];
    const requests = emulator.requests.length;
    const found = await failed(run(analyze, { PULUMI_BACKEND_URL: undefined }));
    expect(found).toMatch(ofShop);
    expect(found).toMatch(ofApi);
    expect(found).toMatch(ofPool);
    // Without the passphrase, the secret policy is not known.
    const redacted = await failed(run(analyze, { PULUMI_CONFIG_PASSPHRASE: undefined }));
    expect(redacted).toMatch(/secret values redacted/);
    expect(redacted).toMatch(ofShop);
    expect(redacted).not.toMatch(/api\.example\.com|not valid JSON/);
    expect(emulator.requests).toHaveLength(requests);
  },
  120_000,
);
