import * as pulumi from "@pulumi/pulumi";
import { load } from "js-yaml";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { mergeAgentConfigs, WebhookVerification, type WebhookVerificationArgs } from "../../../sdk";
import { Agent, signWebhook } from "../../../sdk/testing";
import { mergedConfig } from "../../../sdk/webhooks/agentConfig";
import { startApplication } from "../testing/agent/application";

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: () => ({}),
  });
});

const resolved = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));
const verification = (
  name: "github" | "stripe",
  more: Partial<Omit<WebhookVerificationArgs, "platform" | "secret">> = {},
) =>
  new WebhookVerification(name, {
    platform: name,
    secret: `CANARY-${name}`,
    agent: { upstream: 8080 },
    ...more,
  });
const textOf = (...given: Parameters<typeof verification>) => resolved(verification(...given).agentConfig);

describe("the merged configuration", () => {
  test.each([2, 3] as const)("of version %i holds what each of them held", async (agentConfigVersion) => {
    const [github, stripe] = (["github", "stripe"] as const).map((name) =>
      verification(name, { agentConfigVersion, agent: { name: `${name}: yes`, upstream: 8080 } }),
    );
    const parts = (await Promise.all([github, stripe].map((each) => each && resolved(each.agentConfig)))).map(
      (text) => load(text ?? "") as { endpoints: object[]; tunnels: object },
    );
    const merged = load(await resolved(mergeAgentConfigs(github?.agentConfig, stripe?.agentConfig)));
    expect(merged).toEqual(
      agentConfigVersion === 3
        ? { version: 3, agent: {}, endpoints: parts.flatMap(({ endpoints }) => endpoints) }
        : { version: 2, tunnels: { ...parts[0]?.tunnels, ...parts[1]?.tunnels } },
    );
  });

  test.each([2, 3] as const)("of version %i starts an agent for each of its endpoints", async (version) => {
    const application = await startApplication();
    const all = [{}, { enforce: false }].map((more, index) =>
      verification(index === 0 ? "github" : "stripe", {
        agentConfigVersion: version,
        agent: { upstream: application.port },
        ...more,
      }),
    );
    const config = await resolved(mergeAgentConfigs(...all.map(({ agentConfig }) => agentConfig)));
    const body = "{}";
    for (const [name, forged] of [
      ["github", 403],
      ["stripe", 201],
    ] as const) {
      const agent = await Agent.start({ config, endpoint: name });
      onTestFinished(() => agent.close());
      const post = async (secret: string) =>
        (await fetch(agent.url, { method: "POST", body, headers: signWebhook(name, { body, secret }) }))
          .status;
      expect([await post(`CANARY-${name}`), await post("forged")]).toEqual([201, forged]);
      expect(agent.requests.map(({ verdicts }) => verdicts.map(({ verified }) => verified))).toEqual([
        [true],
        [false],
      ]);
    }
  });

  test("is secret", async () => {
    expect(await pulumi.isSecret(mergeAgentConfigs(verification("github").agentConfig))).toBe(true);
    expect(await pulumi.isSecret(mergeAgentConfigs("version: 2\ntunnels: {}"))).toBe(true);
  });
});

describe("configurations are not merged", () => {
  const told = (...texts: unknown[]) => {
    try {
      mergedConfig(texts);
    } catch (error) {
      // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
      expect((error as Error).stack).toBe("");
      return (error as Error).message;
    }
    throw new Error("they were merged");
  };

  test("of two versions", async () => {
    const both = [await textOf("github"), await textOf("stripe", { agentConfigVersion: 2 })];
    expect(told(...both)).toMatch(/^mergeAgentConfigs: the configurations are of versions 2 and 3; give all/);
  });

  test.each([2, 3] as const)("with two endpoints of one name, in version %i", async (agentConfigVersion) => {
    const agent = { name: "hooks", upstream: 8080 };
    const both = [
      await textOf("github", { agentConfigVersion, agent }),
      await textOf("stripe", { agentConfigVersion, agent }),
    ];
    expect(told(...both)).toBe(
      "mergeAgentConfigs: two endpoints have the name hooks; give each verification its own agent.name",
    );
  });

  test("where one is missing, or is none, with all mistakes at once and nothing of what they hold", async () => {
    const text = await textOf("github");
    const words = told(undefined, text, "CANARY: [", "agent: {authtoken: CANARY}", 7);
    expect(words.split("\n")).toEqual([
      expect.stringMatching(/^mergeAgentConfigs: configuration 1 is missing; give its verification an agent/),
      "mergeAgentConfigs: configuration 3 is not the agentConfig of a webhook verification",
      "mergeAgentConfigs: configuration 4 is not the agentConfig of a webhook verification",
      "mergeAgentConfigs: configuration 5 is not the agentConfig of a webhook verification",
    ]);
    expect(words).not.toContain("CANARY");
    expect(told()).toMatch(/there is no configuration to merge/);
  });
});
