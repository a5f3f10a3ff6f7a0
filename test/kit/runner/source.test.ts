import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../../../sdk/testing";
import { GITHUB, policyOf, startAgent, startApplication, verifying } from "./application";

/** Every refused input contains it, and no message does. */
const CANARY = "CANARY-71aa";

const version3 = (policy: unknown = {}, more = "") =>
  `version: 3\nagent: {}\nendpoints:\n  - {name: one, upstream: {url: 8080}, traffic_policy: ${JSON.stringify(policy)}}\n${more}`;
const version2 = (more: string) => `version: 2\ntunnels:\n  hooks: {proto: http, addr: 8080, ${more}}\n`;
const verifies = JSON.stringify(policyOf(verifying()));

describe("an agent starts", () => {
  test("with a configuration of version 2 that contains a policy", async () => {
    const { post, signed } = await startAgent({ config: version2(`traffic_policy: ${verifies}`) });
    expect([(await signed("{}")).status, (await post("{}")).status]).toEqual([201, 403]);
  });

  test("with options that name a policy file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "hooks.policy.json");
    writeFileSync(file, verifies);
    const { post, signed } = await startAgent({ options: ["--traffic-policy-file", file] });
    expect([(await signed("{}")).status, (await post("{}")).status]).toEqual([201, 403]);
  });

  test("with the chosen endpoint of a configuration with several endpoints", async () => {
    const config = version3({}, `  - {name: two, upstream: {url: 8080}, traffic_policy: ${verifies}}`);
    expect((await (await startAgent({ config, endpoint: "one" })).post("{}")).status).toBe(201);
    expect((await (await startAgent({ config, endpoint: "two" })).post("{}")).status).toBe(403);
    for (const endpoint of [undefined, "three"]) {
      await expect(startAgent({ config, ...(endpoint && { endpoint }) })).rejects.toThrow(
        /has the endpoints one, two; select one of them/,
      );
    }
  });

  test("with the upstream of its configuration if the caller gives none", async () => {
    const application = await startApplication();
    const agent = await Agent.start({ config: version3().replace("8080", `${application.port}`) });
    onTestFinished(() => agent.close());
    expect((await fetch(agent.url)).status).toBe(201);
    await expect(Agent.start({ options: GITHUB })).rejects.toThrow(/upstream must be a port/);
  });
});

/** The message of the error at the start. */
async function startError(options: AgentOptions): Promise<string> {
  try {
    await (await Agent.start({ upstream: 1, ...options })).close();
    return "it started";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("an agent refuses to start, without quoting a value,", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
  const expression = "${x}";

  test.each<[string, object, RegExp]>([
    [
      "an action that is not simulated",
      policyOf({ type: "oauth", config: { name: CANARY } }),
      /at .*on_http_request.0.actions.0.type: this action is not simulated/,
    ],
    [
      "a key that its action lacks",
      policyOf({ type: "deny", config: { body: CANARY } }),
      /actions.0.config: /,
    ],
    ["a misspelled key", policyOf(verifying({ secrets: CANARY })), /at .*on_http_request.0.actions.0.config/],
    ["a value of another type", policyOf(verifying({ enforce: CANARY })), /actions.0.config.enforce/],
    ["another phase", { on_event_stream_message: [CANARY] }, /Unrecognized key.*on_event_stream_message/],
    ["a rule without actions", { on_http_request: [{ name: CANARY }] }, /at .*on_http_request.0.actions/],
    [
      "an unknown platform",
      policyOf(verifying({ provider: CANARY })),
      /does not know how this platform signs/,
    ],
    [
      "a platform that the test kit does not support",
      policyOf(verifying({ provider: "dropbox" })),
      /how Dropbox signs/,
    ],
    ["no secret", policyOf(verifying({ secret: undefined })), /^the secret of github is empty/],
    [
      "a reference beside other text",
      policyOf(verifying({ secret: `${CANARY}${expression}` })),
      /contains \$\{/,
    ],
  ])("with %s in its policy, as an object, as text and in a configuration", async (_, policy, words) => {
    const text = JSON.stringify(policy);
    for (const source of [{ trafficPolicy: policy }, { trafficPolicy: text }, { config: version3(policy) }]) {
      const message = await startError(source);
      expect(message).toMatch(words);
      expect(message).not.toContain("CANARY");
    }
  });

  test.each<[string, AgentOptions, RegExp]>([
    ["an invalid policy", { trafficPolicy: `a: [${CANARY}` }, /policy is not valid YAML \(line 1/],
    ["broken YAML", { config: `version: 2\nsecret: "${CANARY}` }, /configuration is not valid YAML \(line 2/],
    ["no version", { config: `agent: {authtoken: ${CANARY}}` }, /at version/],
    [
      "a misspelled key",
      { config: version2(`verify_webhook: {platform: ${CANARY}}`) },
      /at tunnels.hooks.verify_webhook/,
    ],
    [
      "verify_webhook in version 3",
      { config: version3().replace("upstream:", `verify_webhook: {secret: ${CANARY}}, upstream:`) },
      /at endpoints.0: Unrecognized key.*verify_webhook/,
    ],
    ["an unknown option", { options: [`--${CANARY}`, "x"] }, /^argument 1 is not one of these options/],
    ["an extra argument", { options: [...GITHUB, CANARY] }, /^argument 5 is not one of these options/],
    ["an option without a value", { options: GITHUB.slice(0, 3) }, /^argument 3 is not one of these options/],
    ["no option", { options: [] }, /one of the two/],
    ["two ways to verify", { options: [...GITHUB, "--traffic-policy-file", CANARY] }, /one of the two/],
    ["an unknown platform", { options: ["--verify-webhook", CANARY] }, /how this platform signs/],
    ["no secret", { options: GITHUB.slice(0, 2) }, /^the secret of github is empty/],
    ["a missing file", { options: ["--traffic-policy-file", CANARY] }, /cannot be read/],
    ["both options and a configuration", { options: GITHUB, config: version3() }, /one of the three/],
    ["no options, policy or configuration", {}, /one of the three/],
    [
      "an upstream with a path",
      { options: GITHUB, upstream: `http://localhost/${CANARY}` },
      /^upstream has a path/,
    ],
    [
      "an upstream with another scheme",
      { options: GITHUB, upstream: `ftp://${CANARY}` },
      /^upstream must be a port/,
    ],
  ])("with %s", async (_, options, words) => {
    const message = await startError(options);
    expect(message).toMatch(words);
    expect(message).not.toContain("CANARY");
  });
});
