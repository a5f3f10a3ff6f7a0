import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { WebhookVerification } from "../../../sdk";
import { withProgramErrors } from "../../../sdk/programRun";
import {
  agentConfig,
  agentOptions,
  type CheckedVerification,
  mergedConfig,
  policyText,
} from "../../../sdk/webhooks/agentConfig";
import { thrown } from "../../provider/emulated";
import { mockEngine, resolved } from "../program";

const given = { platform: "github", secret: "long-secret" } as const;
const github: CheckedVerification = { ...given, enforce: undefined, expressions: undefined };
const agent = { name: "hooks", url: "https://hooks.example.com", upstream: 8080 };
const rule = (config: object) => ({ on_http_request: [{ actions: [{ type: "verify-webhook", config }] }] });

const config = (verification: CheckedVerification, version: 2 | 3, more: object = {}) =>
  parse(agentConfig(verification, { ...agent, ...more }, version));

describe("the agent's configuration", () => {
  test("in version 3 has the documented form, without the agent's token", () => {
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
                      secret: "long-secret"
          upstream:
            url: 8080
      "
    `);
  });

  test("in version 2 has the documented form, without the agent's token", () => {
    expect(agentConfig(github, agent, 2)).toMatchInlineSnapshot(`
      "version: 2
      tunnels:
        "hooks":
          proto: "http"
          addr: 8080
          domain: "hooks.example.com"
          verify_webhook:
            provider: "github"
            secret: "long-secret"
      "
    `);
  });

  test("in version 2 has the scheme of an http URL", () =>
    expect(config(github, 2, { url: "http://hooks.example.com" })).toMatchObject({
      tunnels: { hooks: { domain: "hooks.example.com", schemes: ["http"] } },
    }));
});

/** Secrets that a YAML parser or an option parser could read as something else. */
const misreadable = [
  ...["0x1F", "1_000", "null", "- ab", "a: b", "#abc", "'abc", "\\nab", "é✓é✓", "x".repeat(300), "--verify"],
];

describe("options, policy and configurations of both versions", () => {
  test.each(misreadable)("keep the secret %j as text, character for character", (secret) => {
    const verification = { ...github, secret };
    // Every parser of YAML reads a line in JSON's quotes alike.
    for (const version of [2, 3] as const)
      expect(agentConfig(verification, agent, version)).toContain(` secret: ${JSON.stringify(secret)}\n`);
    expect(config(verification, 2)).toMatchObject({ tunnels: { hooks: { verify_webhook: { secret } } } });
    expect(JSON.stringify(config(verification, 3))).toContain(JSON.stringify(secret));
    expect(JSON.parse(policyText(verification))).toEqual(rule({ provider: "github", secret }));
    const options = ["--verify-webhook", "github", "--verify-webhook-secret", secret];
    expect(agentOptions(verification, undefined, "p.json")).toEqual(options);
  });

  test.each<Partial<CheckedVerification>>([
    { enforce: false },
    { expressions: ["req.method == 'POST'"] },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
    { secret: "${secrets.get('webhooks', 'github')}" },
  ])("contain a policy for %j, which flags and tunnel settings cannot express", (more) => {
    const verification = { ...github, ...more };
    const policy = JSON.parse(policyText(verification));
    expect(agentOptions(verification, undefined, "p.json")).toEqual(["--traffic-policy-file", "p.json"]);
    expect(config(verification, 2)).toEqual({
      version: 2,
      tunnels: { hooks: { proto: "http", addr: 8080, domain: "hooks.example.com", traffic_policy: policy } },
    });
    expect(config(verification, 3)).toMatchObject({ endpoints: [{ traffic_policy: policy }] });
    expect(JSON.stringify(policy)).toContain(JSON.stringify(more).slice(1, -1));
  });
});

describe("mergeAgentConfigs", () => {
  const v3 = (name: string) => agentConfig(github, { ...agent, name }, 3);
  const TWICE = /^two endpoints have the name a; give each verification/;
  const v2 = (name: string) => agentConfig(github, { ...agent, name }, 2);

  test("keeps every endpoint and tunnel, whatever its name", () => {
    const { endpoints } = parse(mergedConfig([v3("a: yes"), v3("__proto__")])) as { endpoints: object[] };
    expect(endpoints).toMatchObject([{ name: "a: yes" }, { name: "__proto__", upstream: { url: 8080 } }]);
    const { tunnels } = parse(mergedConfig([v2("a: yes"), v2("b")])) as { tunnels: object };
    expect(tunnels).toMatchObject({ "a: yes": { addr: 8080 }, b: { addr: 8080 } });
  });

  const versions =
    /^the configurations are of versions 2 and 3; give all verifications the same agentConfigVersion$/;
  const not = (place: number) =>
    new RegExp(`^configuration ${place} is not the agentConfig of a webhook verification$`);
  // biome-ignore format: one line for each list
  test.each<[string, unknown[], RegExp[]]>([
    ["different versions", [v3("a"), v2("b")], [versions]],
    ["the same name twice in version 2", [v2("a"), v2("a")], [TWICE]],
    ["no configurations", [], [/^there is no configuration to merge$/]],
    ["invalid configurations", [undefined, v3("a"), "CANARY: [", "agent: {authtoken: CANARY}", 7, v3("a").replace('"github"', "!CANARY")], [/^configuration 1 is missing; give its verification an agent/, /^configuration 3 is not valid YAML \(line 1, /, not(4), not(5), /^configuration 6 has a YAML tag \(line \d+, column \d+\): an unquoted !/]],
  ])("throws one error for %s, with every mistake and no value", async (_, texts, expected) => {
    const { message, stack } = await thrown(withProgramErrors(() => mergedConfig(texts)));
    expect(message.split("\n").map((line) => line.replace("mergeAgentConfigs: ", ""))).toEqual(
      expected.map((words) => expect.stringMatching(words)),
    );
    expect(message).not.toContain("CANARY");
    // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
    expect(stack).toBe("");
  });
});

test("a WebhookVerification configures the agent under the agent's name, or else under its own, in the given version", async () => {
  await mockEngine();
  const verification = (more: object = {}) => new WebhookVerification("hooks", { ...given, ...more });
  const configured = async (more: object) => resolved(verification(more).agentConfig);
  const [own, mine] = [{ upstream: 8080 }, { name: "mine", upstream: 8080 }];
  const lax = { ...github, enforce: false };
  expect(await configured({})).toBeUndefined();
  expect(await configured({ agent: own })).toBe(agentConfig(github, { name: "hooks", ...own }, 3));
  expect(await configured({ agent: mine, agentConfigVersion: 2 })).toBe(agentConfig(github, mine, 2));
  const atUrl = verification({ agent });
  expect((await resolved(atUrl.agentOptions)).join(" ")).toBe(
    "--url https://hooks.example.com --verify-webhook github --verify-webhook-secret long-secret",
  );
  const { agentOptions: options, trafficPolicy } = verification({ enforce: false });
  expect(await resolved(options)).toEqual(["--traffic-policy-file", "hooks.policy.json"]);
  expect(await resolved(trafficPolicy)).toBe(policyText(lax));
});
