import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  type CloudEndpointArgs,
  mergeTrafficPolicy,
  WebhookVerification,
  type WebhookVerificationArgs,
} from "../../../sdk";
import { inProgram } from "../../../sdk/programRun";
import { mergedPolicy as merge } from "../../../sdk/webhooks/mergedPolicy";
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
const mergedPolicy = (policy: object | string, policies: (string | undefined)[]) =>
  inProgram(() => merge(policy, policies, () => {}));

describe("mergeTrafficPolicy", () => {
  const rule = { actions: [{ type: "deny" }] };
  const on_http_response = [{ actions: [] }];
  const verify = { type: "verify-webhook", config: { provider: "github", secret: "shared" } };
  const verifying = { actions: [verify] };
  const merged = async (policy: pulumi.Input<object | string>, more?: More) =>
    resolved(mergeTrafficPolicy(policy, github(more)));

  test.each<[string, pulumi.Input<object | string>]>([
    ["an object", { on_http_request: [rule], on_http_response }],
    ["an object that contains outputs", { on_http_request: pulumi.output([rule]), on_http_response }],
    ["JSON", '{"on_http_request":[{"actions":[{"type":"deny"}]}],"on_http_response":[{"actions":[]}]}'],
    ["YAML", "on_http_request:\n- actions: [{type: deny}]\non_http_response: [{actions: []}]"],
  ])("puts the verification before all rules of a policy that is %s", async (_, policy) => {
    expect(await merged(policy)).toEqual({ on_http_request: [verifying, rule], on_http_response });
  });

  test("returns a secret and does not change the given policy", async () => {
    const policy = { on_http_request: [rule] };
    const output = mergeTrafficPolicy(policy, github());
    await resolved(output);
    expect(policy).toEqual({ on_http_request: [rule] });
    expect(await pulumi.isSecret(output)).toBe(true);
  });

  test("adds the phase on_http_request if the policy has none", async () => {
    expect(await merged({})).toEqual({ on_http_request: [verifying] });
  });

  test("keeps the order of several verifications if their expressions choose different requests", async () => {
    const brex = new WebhookVerification("brex", {
      platform: "brex",
      secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
      expressions: ["req.url.path == '/brex'"],
    });
    const both = await resolved(mergeTrafficPolicy({ on_http_request: [rule] }, [brex, github()]));
    const first = { expressions: ["req.url.path == '/brex'"] };
    expect(both).toMatchObject({ on_http_request: [first, verifying, rule] });
  });

  test("throws if two verifications would apply to every request", async () => {
    const every = await resolved(github().trafficPolicy);
    const empty = { expressions: [], ...verifying };
    const error = /would refuse all requests.*expressions.*enforce: false/;
    expect(() => mergedPolicy({}, [every, every])).toThrow(error);
    expect(() => mergedPolicy({ on_http_request: [empty, rule] }, [every])).toThrow(error);
    expect(() => mergedPolicy(mergedPolicy({ on_http_request: [rule] }, [every]), [every])).toThrow(error);
    const twice = { actions: [verify, verify] };
    const chosen = await resolved(github({ expressions: ["req.method == 'POST'"] }).trafficPolicy);
    expect(() => mergedPolicy({ on_http_request: [twice] }, [chosen])).toThrow(error);
  });

  test("accepts several verifications of every request if at most one is enforced", async () => {
    const [every = "", lax = "", chosen = ""] = await Promise.all(
      [{}, { enforce: false }, { expressions: ["req.method == 'POST'"] }].map((more) =>
        resolved(github(more).trafficPolicy),
      ),
    );
    const rules = (policy: object) => (policy as { on_http_request: object[] }).on_http_request.length;
    expect(rules(mergedPolicy({ on_http_request: [rule] }, [lax, lax]))).toBe(3);
    expect(rules(mergedPolicy(mergedPolicy({ on_http_request: [rule] }, [every]), [lax, chosen]))).toBe(4);
  });

  const forward = { type: "forward-internal", config: { url: "https://app.internal" } };
  const log = { type: "log", config: { metadata: {} } };
  const onConnect = (...actions: object[]) => ({ on_tcp_connect: [{ actions }], on_http_request: [rule] });
  const verifiesNothing =
    /a rule of on_tcp_connect without expressions ends every connection.* nothing would be verified; move it to on_http_request/;

  test.each<[string, object | string, RegExp]>([
    ["forwards every connection", onConnect(forward), verifiesNothing],
    ["denies every connection", onConnect({ type: "deny" }), verifiesNothing],
    ["closes every connection", onConnect(log, { type: "close-connection" }), verifiesNothing],
    [
      "forwards every connection, and continues if that fails",
      onConnect({ ...forward, config: { ...forward.config, on_error: "continue" } }),
      verifiesNothing,
    ],
    [
      "forwards every connection by a rule with no expression",
      { on_tcp_connect: [{ expressions: [], actions: [forward] }] },
      verifiesNothing,
    ],
    ["forwards every connection, as YAML", "on_tcp_connect: [{actions: [{type: deny}]}]", verifiesNothing],
    [
      "forwards connections after some were denied",
      { on_tcp_connect: [{ expressions: ["false"], actions: [{ type: "deny" }] }, { actions: [forward] }] },
      verifiesNothing,
    ],
    [
      "verifies after a rule that ends every request",
      { on_http_request: [rule, verifying] },
      /verify-webhook of the policy follows an action that ends every request/,
    ],
    [
      "verifies some requests after an action that ends them",
      { on_http_request: [{ expressions: ["false"], actions: [forward, verify] }] },
      /verify-webhook of the policy follows/,
    ],
    ["has rules under inbound", { inbound: [rule] }, /rules under inbound, .*move them to on_http_request/],
    ["has rules under outbound", { outbound: [rule] }, /rules under outbound, .*to on_http_response/],
    ["has rules under onHttpRequest", { onHttpRequest: [rule] }, /onHttpRequest, .*to on_http_request/],
    ["has rules under on_connect", { on_connect: [{ actions: [forward] }] }, /to on_tcp_connect/],
  ])("throws if the policy %s", (_, policy, words) => {
    expect(() => mergedPolicy(policy, [CHOSEN])).toThrow(words);
  });

  test.each<[string, object]>([
    ["forwarded", { expressions: ["conn.client_ip == '192.0.2.1'"], actions: [forward] }],
    ["denied", { expressions: ["conn.client_ip == '192.0.2.1'"], actions: [{ type: "deny" }] }],
  ])("warns if some connections are %s before the verification", async (_, early) => {
    const warned = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    const policy = { on_tcp_connect: [early], on_http_request: [rule] };
    expect(await merged(policy)).toEqual({ ...policy, on_http_request: [verifying, rule] });
    expect(warned.mock.calls).toEqual([
      [expect.stringMatching(/on_tcp_connect ends the connections that its expressions select/)],
    ]);
  });

  test.each<[string, object]>([
    ["rules of on_tcp_connect that end no connection", onConnect(log, { type: "restrict-ips" })],
    ["TLS that the endpoint terminates", onConnect({ type: "terminate-tls" })],
    [
      "a verification of some requests after others were forwarded",
      {
        on_http_request: [
          { ...verifying, expressions: ["false"] },
          { expressions: ["1 > 2"], actions: [forward] },
          { ...verifying, expressions: ["1 > 3"] },
          rule,
        ],
      },
    ],
  ])("accepts %s without a warning", async (_, policy) => {
    const warned = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    const own = (policy as { on_http_request: object[] }).on_http_request;
    expect(await merged(policy)).toEqual({ ...policy, on_http_request: [verifying, ...own] });
    expect(warned).not.toHaveBeenCalled();
  });

  test.each([
    ["a key that resembles no phase", { enabled: true }, ["policy.enabled is no phase known"]],
    [
      "older phases without rules",
      { inbound: [], outbound: null },
      [
        "policy.inbound is no phase known to this version; did you mean on_http_request",
        "policy.outbound is no phase known to this version; did you mean on_http_response",
      ],
    ],
    [
      "an unknown action, besides a secret",
      {
        on_http_response: [
          { actions: [{ type: "log", config: { metadata: pulumi.secret("CANARY") } }, { type: "denyy" }] },
        ],
      },
      ["policy.on_http_response[0].actions[1].type"],
    ],
  ])("warns of %s, which the endpoint's check cannot see in the secret result", async (_, more, expected) => {
    const warned = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    for (let twice = 0; twice < 2; twice++) await merged({ ...more, on_http_request: [rule] });
    await expect.poll(() => warned.mock.calls.length).toBe(expected.length);
    expect(warned.mock.calls.map(([text]) => text)).toEqual(
      expected.map((words) => expect.stringContaining(`mergeTrafficPolicy: ${words}`)),
    );
    expect(JSON.stringify(warned.mock.calls)).not.toContain("CANARY");
  });

  test.each<[string, unknown, RegExp]>([
    ["is invalid text", "a: [", /the policy is not valid YAML/],
    ["is a list", [], /must be an object or text/],
    ["has a phase that is not a list", { on_http_request: {} }, /on_http_request must be a list of rules/],
    ["has one rule in place of a list", { on_tcp_connect: rule }, /on_tcp_connect must be a list of rules/],
    [
      "has a rule that is not an object",
      { on_http_request: ["deny"] },
      /on_http_request must be a list of rules/,
    ],
  ])("throws an error without a stack if the policy %s", (_, policy, words) => {
    // With a stack, Node 20 takes half a minute to print it from Pulumi's own code.
    const error = expect.objectContaining({ message: expect.stringMatching(words), stack: "" });
    expect(() => mergedPolicy(policy as object, [CHOSEN])).toThrow(error);
  });

  test("has types that accept a readonly list and return an input of CloudEndpoint", () => {
    expectTypeOf<readonly WebhookVerification[]>().toExtend<Parameters<typeof mergeTrafficPolicy>[1]>();
    expectTypeOf(mergeTrafficPolicy).returns.toExtend<NonNullable<CloudEndpointArgs["trafficPolicy"]>>();
  });
});
