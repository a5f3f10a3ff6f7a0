import { describe, expect, test } from "vitest";
import { signWebhook } from "../../../../../sdk/testing";
import { GITHUB, SECRET, sendHalf, startAgent, verifying } from "./application";

describe("a verified request", () => {
  test("reaches the application byte for byte, also where it is no text, and its answer comes back as it was given", async () => {
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
    expect(application.seen).toMatchObject([
      { method: "POST", path: "/hook?b=2&a=%20", headers: { "x-more": "1", host: new URL(agent.url).host } },
    ]);
    expect(application.seen[0]?.body.equals(body)).toBe(true);
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
    const { agent, signed } = await startAgent({ options: GITHUB, upstream: 1 });
    expect((await signed("{}")).status).toBe(502);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 502 });
  });
});

describe("a request that does not verify", () => {
  test("is answered with 403 and the service's code, and goes no further", async () => {
    const { agent, application, post } = await startAgent({ options: GITHUB });
    const reply = await post("{}", signWebhook("github", { body: "{}", secret: "another" }));
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringMatching(/ERR_NGROK_3204/)]);
    expect(application.seen).toEqual([]);
    expect(agent.requests[0]?.verdicts).toEqual([
      { provider: "github", verified: false, reason: "its signature is not that of this body and secret" },
    ]);
    expect(JSON.stringify(agent.requests)).not.toContain(SECRET);
  });

  test("because it breaks off in the middle is not passed on in part", async () => {
    const { agent, application, signed } = await startAgent({ options: GITHUB });
    const body = "x".repeat(1000);
    await sendHalf(agent.url, signWebhook("github", { body, secret: SECRET }), Buffer.from(body));
    await signed("{}");
    expect(application.seen.map(({ body }) => body.toString())).toEqual(["{}"]);
    expect(agent.requests[0]).toMatchObject({ forwarded: false, status: 0, verdicts: [] });
  });

  test("goes on where the policy does not enforce, and a later action can see why", async () => {
    const { application, post, signed } = await startAgent({
      trafficPolicy: {
        on_http_request: [
          { actions: [verifying({ enforce: false })] },
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

describe("a free account", () => {
  test("verifies 500 requests, and then none; a paid one has no end", async () => {
    for (const [plan, after] of [
      ["free", 403],
      ["pro", 201],
    ] as const) {
      const { agent, signed } = await startAgent({ options: GITHUB, plan });
      for (let index = 0; index < 500; index++) expect((await signed("{}")).status).toBe(201);
      expect((await signed("{}")).status).toBe(after);
      expect(agent.validations).toBe(plan === "free" ? 500 : 501);
    }
  });
});
