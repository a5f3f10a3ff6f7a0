import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../../../../sdk/testing";
import { GITHUB, policyOf, startAgent, startApplication, verifying } from "./application";

/** In every input that is refused, and in no message. */
const CANARY = "CANARY-71aa";

const version3 = (policy: unknown = {}, more = "") =>
  `version: 3\nagent: {}\nendpoints:\n  - {name: one, upstream: {url: 8080}, traffic_policy: ${JSON.stringify(policy)}}\n${more}`;
const version2 = (more: string) => `version: 2\ntunnels:\n  hooks: {proto: http, addr: 8080, ${more}}\n`;
const verifies = JSON.stringify(policyOf(verifying()));

describe("an agent starts", () => {
  test("with a policy in version 2, and verifies", async () => {
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

  test("with the endpoint that is named, where a configuration has several", async () => {
    const config = version3({}, `  - {name: two, upstream: {url: 8080}, traffic_policy: ${verifies}}`);
    expect((await (await startAgent({ config, endpoint: "one" })).post("{}")).status).toBe(201);
    expect((await (await startAgent({ config, endpoint: "two" })).post("{}")).status).toBe(403);
    for (const endpoint of [undefined, "three"]) {
      await expect(startAgent({ config, ...(endpoint && { endpoint }) })).rejects.toThrow(
        /has the endpoints one, two; select one of them/,
      );
    }
  });

  test("in front of the application that its configuration names, unless the caller does", async () => {
    const application = await startApplication();
    const agent = await Agent.start({ config: version3().replace("8080", `${application.port}`) });
    onTestFinished(() => agent.close());
    expect((await fetch(agent.url)).status).toBe(201);
    await expect(Agent.start({ options: GITHUB })).rejects.toThrow(/upstream must be a port/);
  });
});

/** The message with which the agent refuses to start. */
async function startError(options: AgentOptions): Promise<string> {
  try {
    await (await Agent.start({ upstream: 1, ...options })).close();
    return "it started";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("an agent does not start, and quotes no value,", () => {
  const rule = (more: object) => ({ on_http_request: [{ actions: [verifying()], ...more }] });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
  const expression = "${x}";

  test.each<[string, object, RegExp]>([
    [
      "an expression",
      rule({ expressions: [`'${CANARY}' != ''`] }),
      /at .*0.expressions.*expressions are not evaluated/,
    ],
    [
      "another action",
      policyOf({ type: "deny", config: { body: CANARY } }),
      /at .*on_http_request.0.actions.0.type/,
    ],
    ["a misspelt key", policyOf(verifying({ secrets: CANARY })), /at .*on_http_request.0.actions.0.config/],
    ["a value of another type", policyOf(verifying({ enforce: CANARY })), /actions.0.config.enforce/],
    ["another phase", { on_tcp_connect: [CANARY] }, /Unrecognized key.*on_tcp_connect/],
    ["a rule without actions", { on_http_request: [{ name: CANARY }] }, /at .*on_http_request.0.actions/],
    [
      "a platform that is none",
      policyOf(verifying({ provider: CANARY })),
      /does not know how this platform signs/,
    ],
    [
      "a platform whose scheme is not known",
      policyOf(verifying({ provider: "dropbox" })),
      /how Dropbox signs/,
    ],
    ["no secret", policyOf(verifying({ secret: undefined })), /^the secret of github is empty/],
    [
      "more than a reference",
      policyOf(verifying({ secret: `${CANARY}${expression}` })),
      /holds a \$ before a \{/,
    ],
  ])("with %s in its policy, in whatever form", async (_, policy, words) => {
    const text = JSON.stringify(policy);
    for (const source of [{ trafficPolicy: policy }, { trafficPolicy: text }, { config: version3(policy) }]) {
      const message = await startError(source);
      expect(message).toMatch(words);
      expect(message).not.toContain("CANARY");
    }
  });

  test.each<[string, AgentOptions, RegExp]>([
    ["a policy that is no data", { trafficPolicy: `a: [${CANARY}` }, /policy is not valid YAML \(line 1/],
    ["broken YAML", { config: `version: 2\nsecret: "${CANARY}` }, /configuration is not valid YAML \(line 2/],
    ["no version", { config: `agent: {authtoken: ${CANARY}}` }, /at version/],
    [
      "a misspelt key",
      { config: version2(`verify_webhook: {platform: ${CANARY}}`) },
      /at tunnels.hooks.verify_webhook/,
    ],
    [
      "the module in version 3",
      { config: version3().replace("upstream:", `verify_webhook: {secret: ${CANARY}}, upstream:`) },
      /at endpoints.0: Unrecognized key.*verify_webhook/,
    ],
    ["an unknown option", { options: [`--${CANARY}`, "x"] }, /^argument 1 is not one of these options/],
    ["an argument too much", { options: [...GITHUB, CANARY] }, /^argument 5 is not one of these options/],
    ["an option without a value", { options: GITHUB.slice(0, 3) }, /^argument 3 is not one of these options/],
    ["no option", { options: [] }, /one of the two/],
    ["two ways to verify", { options: [...GITHUB, "--traffic-policy-file", CANARY] }, /one of the two/],
    ["a platform that is none", { options: ["--verify-webhook", CANARY] }, /how this platform signs/],
    ["no secret", { options: GITHUB.slice(0, 2) }, /^the secret of github is empty/],
    ["a file that is not there", { options: ["--traffic-policy-file", CANARY] }, /cannot be read/],
    ["two forms", { options: GITHUB, config: version3() }, /one of the three/],
    ["none", {}, /one of the three/],
    ["a path", { options: GITHUB, upstream: `http://localhost/${CANARY}` }, /^upstream has a path/],
    ["another scheme", { options: GITHUB, upstream: `ftp://${CANARY}` }, /^upstream must be a port/],
  ])("with %s", async (_, options, words) => {
    const message = await startError(options);
    expect(message).toMatch(words);
    expect(message).not.toContain("CANARY");
  });
});
