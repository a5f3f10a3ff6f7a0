import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { findOnPath } from "../../sdk/pulumi";
import { CliStack, Emulator, findPulumiCli } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import { plainIn } from "../e2e/setup";
import { expectVerified, WEBHOOK_SECRET } from "./agents";

const run = promisify(execFile);
const found = (await findPulumiCli()) && (await findPulumiCli(undefined, "go")) && (await findOnPath("go"));

describe.skipIf(!found)("with the Pulumi CLI, pulumi-language-go and go on the PATH, the Go example", () => {
  test("installs its SDK, verifies webhooks in an endpoint and an agent, and deletes all", async (context) => {
    const emulator = await Emulator.start();
    const folder = copyOf("go");
    const stack = await CliStack.create({
      program: folder,
      env: { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey },
      config: { githubSecret: { secret: WEBHOOK_SECRET } },
    });
    onTestFinished(async () => {
      await stack.close();
      await emulator.close();
    });
    await run("pulumi", ["install"], {
      cwd: folder,
      env: { ...process.env, PULUMI_HOME: join(folder, "home") },
    }).catch((error: Error & { stdout?: string }) => {
      const text = error.message + error.stdout;
      context.skip(/dial tcp|no such host|GOPROXY/.test(text), "Pulumi's Go modules are out of reach");
      throw new Error(text);
    });

    const up = await stack.up();
    expect(up.outputs).toEqual({
      url: "https://hooks.example.com",
      secretSource: expect.stringMatching(/^Generate a long random secret/),
      agentConfig: expect.stringContaining(WEBHOOK_SECRET),
    });
    await expectVerified("github", up.outputs["agentConfig"]);
    expect(JSON.parse(emulator.endpoints[0]?.traffic_policy ?? "")).toEqual({
      on_http_request: [
        { actions: [{ type: "verify-webhook", config: { provider: "github", secret: WEBHOOK_SECRET } }] },
        { actions: [{ type: "forward-internal", config: { url: "https://github.internal" } }] },
      ],
    });
    expect(up.text + plainIn(await stack.exportState())).not.toContain("CANARY");
    expect((await stack.preview({ expectNoChanges: true })).changes).toEqual({ same: 3 });
    await stack.destroy();
    expect(emulator.endpoints).toEqual([]);
  });
});
