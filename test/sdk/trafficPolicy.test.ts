import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import {
  type CloudEndpointArgs,
  mergeTrafficPolicy,
  WebhookVerification,
  type WebhookVerificationArgs,
} from "../../sdk";
import { mergedPolicy } from "../../sdk/trafficPolicy";

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
  new WebhookVerification("hooks", { platform: "github", secret: "shared", ...more });

describe("a merged policy", () => {
  const rule = { actions: [{ type: "deny" }] };
  const verifying = {
    actions: [{ type: "verify-webhook", config: { provider: "github", secret: "shared" } }],
  };
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

  test("takes several verifications in their order, where each chooses its requests", async () => {
    const brex = new WebhookVerification("brex", {
      platform: "brex",
      secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
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
  });

  test("does not demand two signatures of every request, in whatever way they are asked for", async () => {
    const every = await resolved(github().trafficPolicy);
    const empty = { expressions: [], ...verifying };
    const both = /let none through.*expressions.*enforce: false/;
    expect(() => mergedPolicy({}, [every, every])).toThrow(both);
    expect(() => mergedPolicy({ on_http_request: [empty, rule] }, [every])).toThrow(both);
    expect(() => mergedPolicy(mergedPolicy({ on_http_request: [rule] }, [every]), [every])).toThrow(both);
    const twice = { actions: [...verifying.actions, ...verifying.actions] };
    const chosen = await resolved(github({ expressions: ["req.method == 'POST'"] }).trafficPolicy);
    expect(() => mergedPolicy({ on_http_request: [twice] }, [chosen])).toThrow(both);
  });

  test("may look at two signatures of every request, where one at most is enforced", async () => {
    const [every = "", lax = "", chosen = ""] = await Promise.all(
      [{}, { enforce: false }, { expressions: ["req.method == 'POST'"] }].map((more) =>
        resolved(github(more).trafficPolicy),
      ),
    );
    const rules = (policy: object) => (policy as { on_http_request: object[] }).on_http_request.length;
    expect(rules(mergedPolicy({ on_http_request: [rule] }, [lax, lax]))).toBe(3);
    expect(rules(mergedPolicy(mergedPolicy({ on_http_request: [rule] }, [every]), [lax, chosen]))).toBe(4);
  });

  test.each<[string, unknown, RegExp]>([
    ["text that is none", "a: [", /the policy is not valid YAML/],
    ["a list", [], /must be an object or text/],
    ["a phase that is no list", { on_http_request: {} }, /on_http_request must be a list of rules/],
    ["a rule that is none", { on_http_request: ["deny"] }, /on_http_request must be a list of rules/],
  ])("is not made of %s", (_, policy, words) => {
    const error = thrown(() => mergedPolicy(policy as object, ["{}"]));
    expect(error?.message).toMatch(words);
    // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
    expect(error?.stack).toBe("");
  });

  test("is what a CloudEndpoint takes, made of one verification or of a list that stays as it is", () => {
    expectTypeOf<readonly WebhookVerification[]>().toExtend<Parameters<typeof mergeTrafficPolicy>[1]>();
    expectTypeOf(mergeTrafficPolicy).returns.toExtend<NonNullable<CloudEndpointArgs["trafficPolicy"]>>();
  });
});
