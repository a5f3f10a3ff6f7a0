import { describe, expect, test } from "vitest";
import { signWebhook } from "../../../sdk/testing";
import { GITHUB, policyOf, SECRET, sendHalf, startAgent, verifying } from "./application";

describe("a verified request", () => {
  test("reaches the application unchanged, and the client gets the application's answer", async () => {
    const { agent, application, post } = await startAgent({ options: GITHUB });
    const body = Buffer.concat([Buffer.from('{ "a" : "é✓" }\r\n'), Buffer.from([0xff, 0xfe, 0x00])]);
    const reply = await post(
      body,
      { ...signWebhook("github", { body, secret: SECRET }), "X-More": "1" },
      "/hook?b=2&a=%20",
    );
    expect([reply.status, reply.headers.get("x-from"), await reply.text()]).toEqual([
      201,
      "application",
      "taken",
    ]);
    expect(application.requests).toMatchObject([
      { method: "POST", path: "/hook?b=2&a=%20", headers: { "x-more": "1", host: new URL(agent.url).host } },
    ]);
    expect(application.requests[0]?.headers["content-length"]).toBe(`${body.length}`);
    expect(application.requests[0]?.body.equals(body)).toBe(true);
    expect(agent.requests).toEqual([
      {
        method: "POST",
        path: "/hook?b=2&a=%20",
        verdicts: [{ provider: "github", verified: true }],
        forwarded: true,
        status: 201,
        trace: [
          {
            endpoint: agent.url,
            phase: "on_http_request",
            rule: 0,
            outcome: "matched",
            expressions: [],
            actions: [{ type: "verify-webhook", result: "verified (github)" }],
          },
        ],
      },
    ]);
  });

  test("gets 502 if the application does not listen", async () => {
    const { agent, signed } = await startAgent({ options: GITHUB, upstream: 1 });
    expect((await signed("{}")).status).toBe(502);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 502 });
  });
});

describe("a request that is not verified", () => {
  test("gets 403 with the service's code, and does not reach the application", async () => {
    const { agent, application, post } = await startAgent({ options: GITHUB });
    const reply = await post("{}", signWebhook("github", { body: "{}", secret: "another" }));
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringMatching(/ERR_NGROK_3204/)]);
    expect(application.requests).toEqual([]);
    expect(agent.requests[0]?.verdicts).toEqual([
      { provider: "github", verified: false, reason: "its signature is not that of this body and secret" },
    ]);
    expect(JSON.stringify(agent.requests)).not.toContain(SECRET);
  });

  test("does not reach the application in part if the client disconnects while sending", async () => {
    const { agent, application, signed } = await startAgent({ options: GITHUB });
    const body = "x".repeat(1000);
    await sendHalf(agent.url, signWebhook("github", { body, secret: SECRET }), Buffer.from(body));
    await signed("{}");
    expect(application.requests.map(({ body }) => body.toString())).toEqual(["{}"]);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 0, verdicts: [] });
  });

  test("reaches the application if the policy does not enforce, and its verdict is logged", async () => {
    const { agent, application, post, signed } = await startAgent({
      trafficPolicy: policyOf(verifying({ enforce: false })),
    });
    expect([(await post("{}")).status, (await signed("{}")).status]).toEqual([201, 201]);
    expect(application.requests).toHaveLength(2);
    expect(agent.requests.map(({ verdicts }) => verdicts)).toEqual([
      [{ provider: "github", verified: false, reason: "it is not signed" }],
      [{ provider: "github", verified: true }],
    ]);
  });

  test("gets 403 if it has only one of two required signatures", async () => {
    const both = policyOf(verifying(), verifying({ provider: "stripe" }));
    const { post, signed } = await startAgent({ trafficPolicy: both });
    expect((await signed("{}")).status).toBe(403);
    const [github, stripe] = ["github", "stripe"].map((name) =>
      signWebhook(name, { body: "{}", secret: SECRET }),
    );
    expect((await post("{}", { ...github, ...stripe })).status).toBe(201);
  });
});

test("the policy of a cloud endpoint is applied up to the action that forwards to the agent", async () => {
  const forwarding = { type: "forward-internal", config: { url: "https://hooks.internal" } };
  const rules = [verifying(), forwarding, verifying({ provider: "stripe" })].map((action) => ({
    actions: [action],
  }));
  const { post, signed } = await startAgent({ trafficPolicy: JSON.stringify({ on_http_request: rules }) });
  expect([(await post("{}")).status, (await signed("{}")).status]).toEqual([403, 201]);
});

test("a reference to the vault is replaced by the vault's secret", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
  const trafficPolicy = policyOf(verifying({ secret: "${secrets.get('webhooks', 'github')}" }));
  const { signed } = await startAgent({ trafficPolicy, vaults: { webhooks: { github: SECRET } } });
  expect((await signed("{}")).status).toBe(201);
  await expect(startAgent({ trafficPolicy })).rejects.toThrow(/vault webhooks has no entry github/);
});

test("a free account verifies 500 requests and refuses all further ones", async () => {
  const { agent, signed } = await startAgent({ options: GITHUB, plan: "free" });
  const fifty = () => Promise.all(Array.from({ length: 50 }, async () => (await signed("{}")).status));
  for (let round = 0; round < 10; round++) expect(new Set(await fifty())).toEqual(new Set([201]));
  expect((await signed("{}")).status).toBe(403);
  expect(agent.validations).toBe(500);
});

test("one agent verifies several platforms, each on its own path", async () => {
  const of = (platform: string) => ({
    expressions: [`req.url.path.startsWith('/${platform}')`],
    actions: [verifying({ provider: platform })],
  });
  const { agent, post } = await startAgent({
    trafficPolicy: { on_http_request: [of("github"), of("stripe")] },
  });
  const sent = async (signedFor: string, path: string) =>
    (await post("{}", signWebhook(signedFor, { body: "{}", secret: SECRET }), path)).status;
  expect(await sent("github", "/github")).toBe(201);
  expect(await sent("stripe", "/github")).toBe(403);
  expect(await sent("stripe", "/stripe")).toBe(201);
  expect(agent.requests[2]?.trace.map(({ outcome }) => outcome)).toEqual(["not matched", "matched"]);
});

test("a rule that forwards before the verification shows in the trace", async () => {
  const forwarding = { type: "forward-internal", config: { url: "https://hooks.internal" } };
  const rules = [{ actions: [forwarding] }, { actions: [verifying()] }];
  const { agent, post } = await startAgent({ trafficPolicy: { on_http_request: rules } });
  expect((await post("{}")).status).toBe(201);
  expect(agent.requests[0]).toMatchObject({
    verdicts: [],
    trace: [{ outcome: "matched" }, { outcome: "not reached", actions: [{ type: "verify-webhook" }] }],
  });
});
