import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { WebhookVerification, type WebhookVerificationArgs } from "../../../sdk";

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: () => ({}),
  });
});

const resolved = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

type More = Partial<Omit<WebhookVerificationArgs, "platform" | "secret">>;
const github = (more: More = {}) =>
  new WebhookVerification("hooks", { platform: "github", secret: "shared", ...more });

describe("the outputs of a webhook verification", () => {
  test("are secret, but for the platform and where its secret comes from", async () => {
    const hooks = github({ agent: { upstream: 8080 } });
    expect(await pulumi.isSecret(hooks.agentConfig)).toBe(true);
    expect(await pulumi.isSecret(hooks.agentOptions)).toBe(true);
    expect(await pulumi.isSecret(hooks.trafficPolicy)).toBe(true);
    expect(await pulumi.isSecret(hooks.platform)).toBe(false);
    expect(await pulumi.isSecret(hooks.secretSource)).toBe(false);
  });

  test("have no configuration for an agent without one, and name it after the component or the agent", async () => {
    expect(await resolved(github().agentConfig)).toBeUndefined();
    expect(await resolved(github({ agent: { upstream: 80 } }).agentConfig)).toMatch(
      /^version: 3\n.*name: "hooks"/s,
    );
    expect(await resolved(github({ agent: { name: "mine", upstream: 80 } }).agentConfig)).toMatch(
      /name: "mine"/,
    );
  });

  test("put enforce: false and expressions into policies, and never into flags", async () => {
    const lax = github({
      enforce: false,
      expressions: ["req.method == 'POST'"],
      agentConfigVersion: 2,
      agent: { upstream: 80 },
    });
    expect(await resolved(lax.agentOptions)).toEqual(["--traffic-policy-file", "hooks.policy.json"]);
    expect(await resolved(lax.agentConfig)).toMatch(/traffic_policy:.*expressions:.*enforce: false/s);
    expect(JSON.parse(await resolved(lax.trafficPolicy))).toEqual({
      on_http_request: [
        {
          expressions: ["req.method == 'POST'"],
          actions: [
            { type: "verify-webhook", config: { provider: "github", secret: "shared", enforce: false } },
          ],
        },
      ],
    });
  });

  test("can be told from those of other resources", () => {
    expect(WebhookVerification.isInstance(github())).toBe(true);
    expect(WebhookVerification.isInstance(new pulumi.ComponentResource("a:b:C", "c"))).toBe(false);
  });
});

test("types ask for a secret from every platform but SNS, and take platforms that are not known yet", () => {
  expectTypeOf<{ platform: "github" }>().not.toExtend<WebhookVerificationArgs>();
  expectTypeOf<{ platform: "sns" }>().toExtend<WebhookVerificationArgs>();
  expectTypeOf<{
    platform: "somebody_new";
    secret: pulumi.Output<string>;
  }>().toExtend<WebhookVerificationArgs>();
  expectTypeOf<{ platform: "github"; secret: "s"; plan: "gold" }>().not.toExtend<WebhookVerificationArgs>();
  expectTypeOf<{
    platform: pulumi.Output<string>;
    secret: "s";
    enforce: pulumi.Output<boolean>;
    agent: { upstream: pulumi.Output<number> };
    expressions: pulumi.Output<string>[];
  }>().toExtend<WebhookVerificationArgs>();
  expectTypeOf<{
    platform: "github";
    secret: "s";
    expressions: readonly string[];
  }>().toExtend<WebhookVerificationArgs>();
  expectTypeOf<WebhookVerification["agentConfig"]>().toEqualTypeOf<pulumi.Output<string | undefined>>();
});
