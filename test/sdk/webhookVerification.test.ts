import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import {
  type CloudEndpointArgs,
  mergeTrafficPolicy,
  WebhookVerification,
  type WebhookVerificationArgs,
} from "../../sdk";
import { mergedPolicy } from "../../sdk/trafficPolicy";
import { warningOf } from "../../sdk/webhookQuota";

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: () => ({}),
  });
});

const resolved = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

function thrown(work: () => unknown): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

type More = Partial<Omit<WebhookVerificationArgs, "platform" | "secret">>;
const github = (more: More = {}) =>
  new WebhookVerification("hooks", { platform: "github", secret: "s", ...more });

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
          actions: [{ type: "verify-webhook", config: { provider: "github", secret: "s", enforce: false } }],
        },
      ],
    });
  });

  test("can be told from those of other resources", () => {
    expect(WebhookVerification.isInstance(github())).toBe(true);
    expect(WebhookVerification.isInstance(new pulumi.ComponentResource("a:b:C", "c"))).toBe(false);
  });
});

describe("a merged policy", () => {
  const rule = { actions: [{ type: "deny" }] };
  const verifying = { actions: [{ type: "verify-webhook", config: { provider: "github", secret: "s" } }] };
  const merged = async (policy: pulumi.Input<object | string>, more?: More) =>
    resolved(mergeTrafficPolicy(policy, github(more)));

  test.each<[string, pulumi.Input<object | string>]>([
    ["an object", { on_http_request: [rule], on_http_response: [{ actions: [] }] }],
    [
      "an object with outputs in it",
      { on_http_request: pulumi.output([rule]), on_http_response: [{ actions: [] }] },
    ],
    ["JSON", '{"on_http_request":[{"actions":[{"type":"deny"}]}],"on_http_response":[{"actions":[]}]}'],
    ["YAML", "on_http_request:\n- actions: [{type: deny}]\non_http_response: [{actions: []}]"],
  ])("has verification in front of all that %s had", async (_, policy) => {
    expect(await merged(policy)).toEqual({
      on_http_request: [verifying, rule],
      on_http_response: [{ actions: [] }],
    });
  });

  test("leaves the policy that it was given as it was, and is secret", async () => {
    const policy = { on_http_request: [rule] };
    const output = mergeTrafficPolicy(policy, github());
    await resolved(output);
    expect(policy).toEqual({ on_http_request: [rule] });
    expect(await pulumi.isSecret(output)).toBe(true);
  });

  test("has a phase for requests also where the policy had none", async () => {
    expect(await merged({})).toEqual({ on_http_request: [verifying] });
  });

  test("takes several verifications in their order, where each says which requests are its own", async () => {
    const brex = new WebhookVerification("brex", {
      platform: "brex",
      secret: "b",
      expressions: ["req.url.path == '/brex'"],
    });
    const both = (await resolved(mergeTrafficPolicy({ on_http_request: [rule] }, [brex, github()]))) as {
      on_http_request: unknown[];
    };
    expect(both.on_http_request).toMatchObject([
      { expressions: ["req.url.path == '/brex'"] },
      verifying,
      rule,
    ]);
    const policy = await resolved(github().trafficPolicy);
    expect(() => mergedPolicy({}, [policy, policy])).toThrow(/let none through.*expressions/);
  });

  test.each<[string, unknown, RegExp]>([
    ["text that is none", "a: [", /the policy is not valid YAML/],
    ["a list", [], /must be an object or text/],
    ["a phase that is no list", { on_http_request: {} }, /on_http_request must be a list of rules/],
    ["a rule that is none", { on_http_request: ["deny"] }, /on_http_request must be a list of rules/],
  ])("is not made of %s", (_, policy, words) => {
    const error = thrown(() => mergedPolicy(policy as object, []));
    expect(error?.message).toMatch(words);
    // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
    expect(error?.stack).toBe("");
  });

  test("is what a CloudEndpoint takes", () => {
    expectTypeOf(mergeTrafficPolicy).returns.toExtend<NonNullable<CloudEndpointArgs["trafficPolicy"]>>();
  });
});

describe("the deliveries of an account", () => {
  const of = (...expected: [string, number, ("free" | "pro" | "enterprise")?][]) =>
    warningOf(new Map(expected.map(([name, deliveries, plan]) => [name, { deliveries, plan }])))?.text;

  test("are summed over the components, and 500 a month are enough for none to be told", () => {
    expect(of(["a", 499], ["b", 1, "free"])).toBeUndefined();
    expect(of(["a", 499], ["b", 2, "free"])).toMatch(
      /^501 webhook deliveries a month are expected \(a 499, b 2\).*500.*plan: "pro"/,
    );
  });

  test("have no limit on a paid plan, which one component names for all", () => {
    expect(of(["a", 9999], ["b", 1, "pro"])).toBeUndefined();
    expect(of(["a", 9999, "enterprise"])).toBeUndefined();
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
  expectTypeOf<WebhookVerification["agentConfig"]>().toEqualTypeOf<pulumi.Output<string | undefined>>();
});
