import { load } from "js-yaml";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { Agent, signWebhook } from "../../../sdk/testing";
import { agentConfig, agentOptions, policyText, type Verification } from "../../../sdk/webhooks/agentConfig";
import { startApplication } from "../testing/agent/application";

const github: Verification = {
  platform: "github",
  secret: "<secret>",
  enforce: undefined,
  expressions: undefined,
};
const agent = { name: "hooks", url: "https://hooks.example.com", upstream: 8080 };
const rule = (config: object) => ({ on_http_request: [{ actions: [{ type: "verify-webhook", config }] }] });

/** Read by a YAML parser that is not the one that wrote it. */
const config = (verification: Verification, version: 2 | 3, more: object = {}) =>
  load(agentConfig(verification, { ...agent, ...more }, version));

describe("version 3 of the agent's configuration", () => {
  test("is what the service documents, without the agent's own token", () => {
    expect(config(github, 3)).toEqual({
      version: 3,
      agent: {},
      endpoints: [
        {
          name: "hooks",
          url: "https://hooks.example.com",
          traffic_policy: rule({ provider: "github", secret: "<secret>" }),
          upstream: { url: 8080 },
        },
      ],
    });
  });

  test("reads, as text, like this", () => {
    expect(agentConfig(github, agent, 3)).toMatchInlineSnapshot(`
      "version: 3
      agent: {}
      endpoints:
        - name: "hooks"
          url: "https://hooks.example.com"
          traffic_policy:
            on_http_request:
              - actions:
                  - type: "verify-webhook"
                    config:
                      provider: "github"
                      secret: "<secret>"
          upstream:
            url: 8080
      "
    `);
  });

  test("says enforce: false, and which requests, in its policy", () => {
    const verification = { ...github, enforce: false, expressions: ["req.url.path.startsWith('/github')"] };
    expect(config(verification, 3)).toMatchObject({
      endpoints: [
        {
          traffic_policy: {
            on_http_request: [
              {
                expressions: ["req.url.path.startsWith('/github')"],
                actions: [
                  {
                    type: "verify-webhook",
                    config: { provider: "github", secret: "<secret>", enforce: false },
                  },
                ],
              },
            ],
          },
        },
      ],
    });
  });
});

describe("version 2 of the agent's configuration", () => {
  test("is what the service documents, without the agent's own token", () => {
    expect(config(github, 2)).toEqual({
      version: 2,
      tunnels: {
        hooks: {
          proto: "http",
          addr: 8080,
          domain: "hooks.example.com",
          verify_webhook: { provider: "github", secret: "<secret>" },
        },
      },
    });
  });

  test("reads, as text, like this", () => {
    expect(agentConfig(github, agent, 2)).toMatchInlineSnapshot(`
      "version: 2
      tunnels:
        "hooks":
          proto: "http"
          addr: 8080
          domain: "hooks.example.com"
          verify_webhook:
            provider: "github"
            secret: "<secret>"
      "
    `);
  });

  test("has a policy instead of the module where only that can say it", () => {
    expect(config({ ...github, enforce: false }, 2)).toMatchObject({
      tunnels: {
        hooks: { traffic_policy: rule({ provider: "github", secret: "<secret>", enforce: false }) },
      },
    });
    expect(JSON.stringify(config({ ...github, enforce: false }, 2))).not.toContain("verify_webhook");
  });

  test("asks for http where the address is http, and for no domain where there is no address", () => {
    expect(config(github, 2, { url: "http://hooks.example.com" })).toMatchObject({
      tunnels: { hooks: { domain: "hooks.example.com", schemes: ["http"] } },
    });
    expect(agentConfig(github, { ...agent, url: undefined }, 2)).not.toContain("domain");
  });
});

describe("the name of a tunnel", () => {
  test.each(["yes", "1_000", "null", "- a", "a: b", '"'])(
    "%s stays text in every version of YAML",
    (name) => {
      const text = agentConfig(github, { ...agent, name }, 2);
      for (const version of ["1.1", "1.2"] as const) {
        const config: Map<string, Map<unknown, unknown>> = parse(text, { version, mapAsMap: true });
        expect([...(config.get("tunnels")?.keys() ?? [])]).toEqual([name]);
      }
    },
  );
});

const SECRETS = [
  "12345",
  "true",
  "False",
  "0x1F",
  "1_000",
  "null",
  "~abc",
  "- ab",
  "a: b",
  "#abc",
  '"abc',
  "'abc",
  "\\nab",
  "é✓é✓",
  "x".repeat(300),
  "-x-y",
  "--verify-webhook",
];

describe("every form", () => {
  test.each(SECRETS)("keeps the secret %j as text, character for character", (secret) => {
    const verification = { ...github, secret };
    expect(config(verification, 2)).toMatchObject({ tunnels: { hooks: { verify_webhook: { secret } } } });
    expect(JSON.stringify(config(verification, 3))).toContain(JSON.stringify(secret));
    expect(JSON.parse(policyText(verification))).toEqual(rule({ provider: "github", secret }));
    expect(agentOptions(verification, "p.json")).toContain(secret);
  });

  test.each(SECRETS)("starts an agent that verifies with the secret %j", async (secret) => {
    const verification = { ...github, secret };
    const application = await startApplication();
    for (const source of [
      { options: agentOptions(verification, "p.json") },
      { trafficPolicy: policyText(verification) },
      { config: agentConfig(verification, agent, 2) },
      { config: agentConfig(verification, agent, 3) },
    ]) {
      const agent = await Agent.start({ ...source, upstream: application.port });
      onTestFinished(() => agent.close());
      const headers = signWebhook("github", { body: "{}", secret });
      expect((await fetch(agent.url, { method: "POST", body: "{}", headers })).status).toBe(201);
    }
  });

  test("leaves the secret out for a platform without one", () => {
    const sns = { ...github, platform: "sns", secret: undefined };
    expect(agentOptions(sns, "p.json")).toEqual(["--verify-webhook", "sns"]);
    expect(config(sns, 2)).toMatchObject({ tunnels: { hooks: { verify_webhook: { provider: "sns" } } } });
    expect(policyText(sns)).toBe(
      '{"on_http_request":[{"actions":[{"config":{"provider":"sns"},"type":"verify-webhook"}]}]}',
    );
  });
});

describe("the agent's options", () => {
  test("are an argument list", () => {
    expect(agentOptions(github, "hooks.policy.json")).toEqual([
      "--verify-webhook",
      "github",
      "--verify-webhook-secret",
      "<secret>",
    ]);
  });

  test.each<Partial<Verification>>([
    { enforce: false },
    { expressions: ["req.method == 'POST'"] },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    { secret: "${secrets.get('webhooks', 'github')}" },
  ])("name a policy file where flags cannot say it: %j", (more) => {
    expect(agentOptions({ ...github, ...more }, "hooks.policy.json")).toEqual([
      "--traffic-policy-file",
      "hooks.policy.json",
    ]);
  });
});
