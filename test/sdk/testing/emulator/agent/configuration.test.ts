import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, signWebhook } from "../../../../../sdk/testing";
import { GITHUB, policyOf, SECRET, startAgent, startApplication, verifying } from "./application";

describe("the configuration", () => {
  const version2 = (tunnel: string) =>
    `version: 2\ntunnels:\n  hooks:\n    proto: http\n    addr: 8080\n${tunnel}`;
  const module = `    verify_webhook:\n      provider: github\n      secret: ${SECRET}\n`;
  const version3 = (more = "") =>
    `version: 3\nagent: {}\nendpoints:\n  - name: one\n    upstream: {url: 8080}\n${more}`;

  test("of version 2 verifies by its module, or by a policy", async () => {
    const byPolicy = `    traffic_policy: {on_http_request: [{actions: [{type: deny}]}]}\n`;
    expect((await (await startAgent({ config: version2(module) })).signed("{}")).status).toBe(201);
    expect((await (await startAgent({ config: version2(module) })).post("{}")).status).toBe(403);
    expect((await (await startAgent({ config: version2(byPolicy) })).signed("{}")).status).toBe(403);
  });

  test("of several endpoints starts the one that is named", async () => {
    const config = version3(
      "  - name: two\n    upstream: {url: 8080}\n    traffic_policy: {on_http_request: [{actions: [{type: deny}]}]}\n",
    );
    await expect(startAgent({ config })).rejects.toThrow(/has the endpoints one, two; name one of them/);
    expect((await (await startAgent({ config, endpoint: "one" })).post("{}")).status).toBe(201);
    expect((await (await startAgent({ config, endpoint: "two" })).post("{}")).status).toBe(403);
  });

  test("names the application, unless the caller does", async () => {
    const application = await startApplication();
    const agent = await Agent.start({ config: version3().replace("8080", `${application.port}`) });
    onTestFinished(() => agent.close());
    expect((await fetch(agent.url)).status).toBe(201);
    await expect(Agent.start({ options: GITHUB })).rejects.toThrow(/upstream is missing/);
  });

  test("can be options that name a policy file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "hooks.json"), JSON.stringify(policyOf(verifying())));
    const { post, signed } = await startAgent({ options: ["--traffic-policy-file", "hooks.json"], folder });
    expect([(await signed("{}")).status, (await post("{}")).status]).toEqual([201, 403]);
  });

  test("can be options that are written as one argument or two, with a secret that begins with a dash", async () => {
    for (const options of [
      ["--verify-webhook", "github", "--verify-webhook-secret", "-CANARY"],
      ["--verify-webhook=github", "--verify-webhook-secret=-CANARY"],
      ["--verify-webhook=github", "--verify-webhook-secret=old", "--verify-webhook-secret", "-CANARY"],
    ]) {
      const { post } = await startAgent({ options });
      const headers = signWebhook("github", { body: "{}", secret: "-CANARY" });
      expect((await post("{}", headers)).status).toBe(201);
    }
  });
});
