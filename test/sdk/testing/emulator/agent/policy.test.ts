import { describe, expect, test } from "vitest";
import { signWebhook } from "../../../../../sdk/testing";
import { policyOf, SECRET, startAgent, verifying } from "./application";

describe("a policy", () => {
  test("verifies those requests that its expressions choose, and passes the others", async () => {
    const { agent, application, post, signed } = await startAgent({
      trafficPolicy: {
        on_http_request: [{ expressions: ["req.url.path.startsWith('/github')"], actions: [verifying()] }],
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
    const { application, post, signed } = await startAgent({
      trafficPolicy: JSON.stringify({
        on_http_request: [
          {
            expressions: ["req.url.path == '/closed'"],
            actions: [{ type: "deny", config: { status_code: 404 } }],
          },
          { name: "hooks", actions: [verifying(), added, { type: "log", config: {} }, internal] },
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
    const reference = policyOf(verifying({ secret: "${secrets.get('webhooks', 'github')}" }));
    const { signed } = await startAgent({
      trafficPolicy: reference,
      vaults: { webhooks: { github: SECRET } },
    });
    expect((await signed("{}")).status).toBe(201);
    await expect(startAgent({ trafficPolicy: reference })).rejects.toThrow(
      /vault webhooks has no entry github/,
    );
  });

  test("answers the challenge of a platform itself", async () => {
    const { application, post } = await startAgent({
      trafficPolicy: policyOf(verifying({ provider: "zoom" })),
    });
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    const reply = await post(body, signWebhook("zoom", { body, secret: SECRET }));
    expect(await reply.json()).toEqual({
      plainToken: "abc",
      encryptedToken: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(application.seen).toEqual([]);
  });

  test("adds headers to those that are there, and only replaces the host", async () => {
    const added = { type: "add-headers", config: { headers: { "X-Tag": "policy", Host: "app.internal" } } };
    const { application, post } = await startAgent({ trafficPolicy: policyOf(added, added) });
    expect((await post("{}", { "X-Tag": "client" })).status).toBe(201);
    expect(application.seen[0]?.headers).toMatchObject({
      "x-tag": "client, policy, policy",
      host: "app.internal",
    });
  });
});
