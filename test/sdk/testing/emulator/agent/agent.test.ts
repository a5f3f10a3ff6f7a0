import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions, signWebhook } from "../../../../../sdk/testing";
import { sendHalf, startApplication } from "./application";

const secret = "whsec_c2VjcmV0";
const github = ["--verify-webhook", "github", "--verify-webhook-secret", secret];

async function start(options: AgentOptions) {
  const application = await startApplication();
  const agent = await Agent.start({ upstream: application.port, ...options });
  onTestFinished(() => agent.close());
  const post = (body: string, headers: Record<string, string> = {}, path = "/") =>
    fetch(agent.url + path, { method: "POST", body, headers });
  const signed = (body: string, path?: string) => post(body, signWebhook("github", { body, secret }), path);
  return { agent, application, post, signed };
}

const policy = (...actions: object[]) => ({ on_http_request: [{ actions }] });
const verify = (more: object = {}) => ({
  type: "verify-webhook",
  config: { provider: "github", secret, ...more },
});

describe("a verified request", () => {
  test("reaches the application as it was sent, and its answer comes back as it was given", async () => {
    const { agent, application, post } = await start({ options: github });
    const body = '{ "a" : "é✓" }\r\n\u0000';
    const reply = await post(
      body,
      { ...signWebhook("github", { body, secret }), "X-More": "1" },
      "/hook?b=2&a=%20",
    );
    expect([reply.status, reply.headers.get("x-from"), await reply.text()]).toEqual([
      201,
      "application",
      "taken",
    ]);
    expect(application.seen).toMatchObject([
      { method: "POST", path: "/hook?b=2&a=%20", headers: { "x-more": "1", host: new URL(agent.url).host } },
    ]);
    expect(application.seen[0]?.body.equals(Buffer.from(body))).toBe(true);
    expect(agent.requests).toEqual([
      {
        method: "POST",
        path: "/hook?b=2&a=%20",
        verdicts: [{ provider: "github", verified: true }],
        forwarded: true,
        status: 201,
      },
    ]);
  });

  test("is answered with 502 where the application does not listen", async () => {
    const { agent, signed } = await start({ options: github, upstream: 1 });
    expect((await signed("{}")).status).toBe(502);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 502 });
  });
});

describe("a request that does not verify", () => {
  test("is answered with 403 and the service's code, and goes no further", async () => {
    const { agent, application, post } = await start({ options: github });
    const reply = await post("{}", signWebhook("github", { body: "{}", secret: "another" }));
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringMatching(/ERR_NGROK_3204/)]);
    expect(application.seen).toEqual([]);
    expect(agent.requests[0]?.verdicts).toEqual([
      { provider: "github", verified: false, reason: "its signature is not that of this body and secret" },
    ]);
    expect(JSON.stringify(agent.requests)).not.toContain(secret);
  });

  test("because it breaks off in the middle is not passed on in part", async () => {
    const { agent, application, signed } = await start({ options: github });
    const body = "x".repeat(1000);
    await sendHalf(agent.url, signWebhook("github", { body, secret }), Buffer.from(body));
    await signed("{}");
    expect(application.seen.map(({ body }) => body.toString())).toEqual(["{}"]);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 0, verdicts: [] });
  });

  test("goes on where the policy does not enforce, and a later action can see why", async () => {
    const { application, post, signed } = await start({
      trafficPolicy: {
        on_http_request: [
          { actions: [verify({ enforce: false })] },
          {
            expressions: ["!actions.ngrok.verify_webhook.verified", "req.method == 'POST'"],
            actions: [{ type: "custom-response", config: { status_code: 418, body: "unsigned" } }],
          },
        ],
      },
    });
    expect(await (await post("{}")).text()).toBe("unsigned");
    expect((await signed("{}")).status).toBe(201);
    expect(application.seen).toHaveLength(1);
  });
});

describe("a policy", () => {
  test("verifies those requests that its expressions choose, and passes the others", async () => {
    const { agent, application, post, signed } = await start({
      trafficPolicy: {
        on_http_request: [{ expressions: ["req.url.path.startsWith('/github')"], actions: [verify()] }],
      },
    });
    expect((await post("{}", {}, "/github/x")).status).toBe(403);
    expect((await signed("{}", "/github/x")).status).toBe(201);
    expect((await post("{}", {}, "/other")).status).toBe(201);
    expect([agent.validations, application.seen.length]).toEqual([2, 2]);
  });

  test("of a cloud endpoint is played too: answers, denials, headers, and the way to the agent", async () => {
    const internal = { type: "forward-internal", config: { url: "https://hooks.internal" } };
    const added = { type: "add-headers", config: { headers: { "X-Verified": "yes" } } };
    const { application, post, signed } = await start({
      trafficPolicy: JSON.stringify({
        on_http_request: [
          {
            expressions: ["req.url.path == '/closed'"],
            actions: [{ type: "deny", config: { status_code: 404 } }],
          },
          { name: "hooks", actions: [verify(), added, { type: "log", config: {} }, internal] },
        ],
      }),
    });
    expect((await post("{}", {}, "/closed")).status).toBe(404);
    expect((await post("{}")).status).toBe(403);
    expect((await signed("{}")).status).toBe(201);
    expect(application.seen.map(({ headers }) => headers["x-verified"])).toEqual(["yes"]);
  });

  test("takes a secret from the vault that it refers to", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    const reference = policy(verify({ secret: "${secrets.get('webhooks', 'github')}" }));
    const { signed } = await start({ trafficPolicy: reference, vaults: { webhooks: { github: secret } } });
    expect((await signed("{}")).status).toBe(201);
    await expect(start({ trafficPolicy: reference })).rejects.toThrow(/vault webhooks has no entry github/);
  });

  test("answers the challenge of a platform itself", async () => {
    const { application, post } = await start({ trafficPolicy: policy(verify({ provider: "zoom" })) });
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    const reply = await post(body, signWebhook("zoom", { body, secret }));
    expect(await reply.json()).toEqual({
      plainToken: "abc",
      encryptedToken: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(application.seen).toEqual([]);
  });

  test.each<[string, AgentOptions["trafficPolicy"] & {}, RegExp]>([
    [
      "an action that is not played",
      policy({ type: "oauth", config: {} }),
      /at on_http_request.0.actions.0.type/,
    ],
    ["a misspelt key", policy(verify({ secrets: "x" })), /at on_http_request.0.actions.0.config/],
    ["another phase", { on_tcp_connect: [] }, /Unrecognized key.*on_tcp_connect/],
    ["no data", "a: [", /not valid YAML/],
    [
      "an expression that is none",
      { on_http_request: [{ expressions: ["foo("], actions: [verify()] }] },
      /"foo\(" is not valid CEL/,
    ],
    [
      "a platform whose scheme is not known",
      policy(verify({ provider: "okta" })),
      /does not know how okta signs/,
    ],
    [
      "no secret",
      policy({ type: "verify-webhook", config: { provider: "github" } }),
      /github needs a secret/,
    ],
  ])("with %s is refused at the start, without its values", async (_, trafficPolicy, words) => {
    const error = await Agent.start({ trafficPolicy, upstream: 1 }).catch((error: Error) => error.message);
    expect(error).toMatch(words);
    expect(error).not.toContain(secret);
  });
});

describe("a free account", () => {
  test("verifies 500 requests, and then none; a paid one has no end", async () => {
    for (const [plan, after] of [
      ["free", 403],
      ["pro", 201],
    ] as const) {
      const { agent, signed } = await start({ options: github, plan });
      for (let index = 0; index < 500; index++) expect((await signed("{}")).status).toBe(201);
      expect((await signed("{}")).status).toBe(after);
      expect(agent.validations).toBe(plan === "free" ? 500 : 501);
    }
  });
});

describe("the configuration", () => {
  const version2 = (tunnel: string) =>
    `version: 2\ntunnels:\n  hooks:\n    proto: http\n    addr: 8080\n${tunnel}`;
  const module = `    verify_webhook:\n      provider: github\n      secret: ${secret}\n`;
  const version3 = (more = "") =>
    `version: 3\nagent: {}\nendpoints:\n  - name: one\n    upstream: {url: 8080}\n${more}`;

  test("of version 2 verifies by its module, or by a policy", async () => {
    const byPolicy = `    traffic_policy: {on_http_request: [{actions: [{type: deny}]}]}\n`;
    expect((await (await start({ config: version2(module) })).signed("{}")).status).toBe(201);
    expect((await (await start({ config: version2(module) })).post("{}")).status).toBe(403);
    expect((await (await start({ config: version2(byPolicy) })).signed("{}")).status).toBe(403);
  });

  test("of several endpoints starts the one that is named", async () => {
    const config = version3(
      "  - name: two\n    upstream: {url: 8080}\n    traffic_policy: {on_http_request: [{actions: [{type: deny}]}]}\n",
    );
    await expect(start({ config })).rejects.toThrow(/has the endpoints one, two; name one of them/);
    expect((await (await start({ config, endpoint: "one" })).post("{}")).status).toBe(201);
    expect((await (await start({ config, endpoint: "two" })).post("{}")).status).toBe(403);
  });

  test("names the application, unless the caller does", async () => {
    const application = await startApplication();
    const agent = await Agent.start({ config: version3().replace("8080", `${application.port}`) });
    onTestFinished(() => agent.close());
    expect((await fetch(agent.url)).status).toBe(201);
    await expect(Agent.start({ options: github })).rejects.toThrow(/upstream is missing/);
  });

  test("can be options that name a policy file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "hooks.json"), JSON.stringify(policy(verify())));
    const { post, signed } = await start({ options: ["--traffic-policy-file", "hooks.json"], folder });
    expect([(await signed("{}")).status, (await post("{}")).status]).toEqual([201, 403]);
  });

  test.each<[string, AgentOptions, RegExp]>([
    [
      "the module in version 3",
      { config: version3(module) },
      /at endpoints.0: Unrecognized key.*verify_webhook/,
    ],
    [
      "a misspelt key",
      { config: version2(module.replace("provider", "platform")) },
      /at tunnels.hooks.verify_webhook/,
    ],
    ["no version", { config: "agent: {}" }, /at version/],
    ["an option that there is none of", { options: ["--verify-webhoks", "x"] }, /verify-webhoks/],
    ["no option", { options: [] }, /name nothing to verify/],
    ["two forms", { options: github, config: version3() }, /one of the three/],
    ["none", {}, /one of the three/],
  ])("with %s is refused", async (_, options, words) => {
    await expect(Agent.start({ upstream: 1, ...options })).rejects.toThrow(words);
  });
});
