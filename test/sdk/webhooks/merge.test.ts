import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  type CloudEndpointArgs,
  mergeTrafficPolicy,
  mergeTrafficPolicyOutput,
  WebhookPlatform,
  WebhookVerification,
  type WebhookVerificationArgs,
} from "../../../sdk";
import { withProgramErrors } from "../../../sdk/programRun";
import { webhooks } from "../../../sdk/webhooks/otherLanguages";
import { until } from "../../until";
import { mockEngine, resolved } from "../program";

beforeAll(() => mockEngine());
afterEach(() => vi.restoreAllMocks());

type More = Partial<Omit<WebhookVerificationArgs, "platform" | "secret">>;
const github = (more: More = {}) =>
  new WebhookVerification("hooks", { platform: "github", secret: "shared", ...more });

/** A verification of some requests. */
const CHOSEN = JSON.stringify({
  on_http_request: [
    { expressions: ["req.method == 'POST'"], actions: [{ type: "verify-webhook", config: {} }] },
  ],
});
const mergedPolicy = (policy: object | string, policies: string[]) =>
  webhooks.mergedPolicy(policy, policies, () => {});

describe("mergeTrafficPolicy", () => {
  const rule = { actions: [{ type: "deny" }] };
  const on_http_response = [{ actions: [] }];
  const verify = { type: "verify-webhook", config: { provider: "github", secret: "shared" } };
  const verifying = { actions: [verify] };
  const merged = async (policy: pulumi.Input<object | string>, more?: More) =>
    resolved(mergeTrafficPolicy(policy, github(more)));

  test("takes the arguments of other languages under the name that pulumi convert writes", async () => {
    const one = new WebhookVerification("hooks", { platform: WebhookPlatform.Github, secret: "shared" });
    const output = mergeTrafficPolicyOutput({
      policy: { on_http_request: [rule], on_http_response },
      verifications: [one.trafficPolicy],
    });
    const trafficPolicy = await merged({ on_http_request: [rule], on_http_response });
    expect(await resolved(output)).toEqual({ trafficPolicy });
    expect(await pulumi.isSecret(output)).toBe(true);
  });

  test("is secret with verifications that are not, in the arguments of other languages", async () => {
    const verifications = [JSON.stringify({ on_http_request: [verifying] })];
    const output = mergeTrafficPolicyOutput({ policy: { on_http_request: [rule] }, verifications });
    expect(await resolved(output)).toEqual({ trafficPolicy: { on_http_request: [verifying, rule] } });
    expect(await pulumi.isSecret(output)).toBe(true);
  });

  test.each<[string, pulumi.Input<object | string>]>([
    ["an object that contains outputs", { on_http_request: pulumi.output([rule]), on_http_response }],
    ["YAML", "on_http_request:\n- actions: [{type: deny}]\non_http_response: [{actions: []}]"],
  ])("puts the verification before all rules of a policy that is %s", async (_, policy) => {
    expect(await merged(policy)).toEqual({ on_http_request: [verifying, rule], on_http_response });
  });

  test("returns a secret, with several verifications in their order if they choose different requests", async () => {
    const [one, two] = [["req.url.path == '/a'"], ["req.url.path == '/b'"]];
    const policy = { on_http_request: [rule] };
    const both = mergeTrafficPolicy(policy, [github({ expressions: one }), github({ expressions: two })]);
    expect(await resolved(both)).toEqual({
      on_http_request: [{ expressions: one, ...verifying }, { expressions: two, ...verifying }, rule],
    });
    expect(policy).toEqual({ on_http_request: [rule] });
    expect(await pulumi.isSecret(both)).toBe(true);
  });

  const every = JSON.stringify({ on_http_request: [verifying] });
  const lax = every.replace('"shared"', '"shared","enforce":false');
  const ended = { expressions: ["req.method == 'POST'"], actions: [{ type: "deny" }] };
  const refusing = /would refuse the other's requests.*expressions.*enforce: false/;

  // biome-ignore format: one line for each merge
  test.each<[string, object, string[], number | RegExp]>([
    ["two of every request", {}, [every, every], refusing],
    ["one beside the policy's own, with an empty list of expressions", { on_http_request: [{ expressions: [], ...verifying }, rule] }, [every], refusing],
    ["one of every request after one of some", {}, [CHOSEN, every], refusing],
    ["the policy's own of every request before its own of some", { on_http_request: [verifying, { expressions: ["a"], ...verifying }, rule] }, [lax], refusing],
    ["the policy's own of every request, after a rule has ended those of another", { on_http_request: [ended, verifying, rule] }, [CHOSEN], 4],
    ["two that are not enforced", { on_http_request: [rule] }, [lax, lax], 3],
    ["one of every request beside one that is not enforced", { on_http_request: [verifying, rule] }, [lax], 3],
  ])("throws if an enforced verification of every request stands beside another: %s", (_, policy, policies, result) => {
    const merging = () => (mergedPolicy(policy, policies) as { on_http_request: object[] }).on_http_request.length;
    if (typeof result === "number") expect(merging()).toBe(result);
    else expect(merging).toThrow(result);
  });

  const forward = { type: "forward-internal", config: { url: "https://app.internal" } };
  const log = { type: "log", config: { metadata: {} } };
  const onConnect = (...actions: object[]) => ({ on_tcp_connect: [{ actions }], on_http_request: [rule] });
  const verifiesNothing =
    /a rule of on_tcp_connect without expressions ends every connection.* nothing would be verified; move it to on_http_request/;

  // biome-ignore format: one line for each policy
  test.each<[string, object | string, RegExp]>([
    ["forwards every connection", onConnect(forward), verifiesNothing],
    ["denies every connection, as YAML", "on_tcp_connect: [{actions: [{type: deny}]}]", verifiesNothing],
    ["verifies after a rule that ends every request", { on_http_request: [rule, verifying] }, /verify-webhook of the policy follows an action that ends every request/],
    ["verifies some requests after an action that ends them", { on_http_request: [{ expressions: ["false"], actions: [forward, verify] }] }, /verify-webhook of the policy follows/],
    ["has rules under inbound", { inbound: [rule] }, /rules under inbound, .*move them to on_http_request/],
    ["has rules under on_connect", { on_connect: [{ actions: [forward] }] }, /to on_tcp_connect/],
  ])("throws if the policy %s", (_, policy, words) => {
    expect(() => mergedPolicy(policy, [CHOSEN])).toThrow(words);
  });

  // biome-ignore format: one line for each policy
  test.each<[string, object, warning?: RegExp]>([
    ["some connections that are forwarded", { on_tcp_connect: [{ expressions: ["conn.client_ip == '192.0.2.1'"], actions: [forward] }] }, /on_tcp_connect ends the connections that its expressions select/],
    ["rules of on_tcp_connect that end no connection", onConnect(log, { type: "restrict-ips" })],
  ])("accepts %s, with a warning if something is not verified", async (_, given, warning) => {
    const warned = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    const policy = { on_http_request: [rule], ...given };
    expect(await merged(policy)).toEqual({ ...policy, on_http_request: [verifying, ...policy.on_http_request] });
    expect(warned.mock.calls).toEqual(warning ? [[expect.stringMatching(warning)]] : []);
  });

  test("warns once of an unknown action besides a secret, which the endpoint's check cannot see in the result", async () => {
    const warned = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    const log = { type: "log", config: { metadata: pulumi.secret("CANARY") } };
    const on_http_response = [{ actions: [log, { type: "denyy" }] }];
    for (let twice = 0; twice < 2; twice++) await merged({ on_http_request: [rule], on_http_response });
    await until(() => warned.mock.calls.length > 0);
    const place = "mergeTrafficPolicy: policy.on_http_response[0].actions[1].type";
    expect(warned.mock.calls).toEqual([[expect.stringContaining(place)]]);
    expect(JSON.stringify(warned.mock.calls)).not.toContain("CANARY");
  });

  test.each<[string, unknown, RegExp]>([
    ["is invalid text", "a: [", /the policy is not valid YAML/],
    ["has a phase that is not a list", { on_http_request: {} }, /on_http_request must be a list of rules/],
  ])("throws an error without a stack if the policy %s", async (_, policy, words) => {
    // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
    const error = expect.objectContaining({ message: expect.stringMatching(words), stack: "" });
    await expect(withProgramErrors(() => mergedPolicy(policy as object, [CHOSEN]))).rejects.toThrow(error);
  });

  test("has types that accept a readonly list and return an input of CloudEndpoint", () => {
    expectTypeOf<readonly WebhookVerification[]>().toExtend<Parameters<typeof mergeTrafficPolicy>[1]>();
    expectTypeOf(mergeTrafficPolicy).returns.toExtend<NonNullable<CloudEndpointArgs["trafficPolicy"]>>();
  });
});
