import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Agent, signWebhook, TestStack, type TestStackOptions } from "../../sdk/testing";
import { startApplication } from "../sdk/testing/agent/application";
import { copyOf } from "./example";
import { errors, failure, onBothDrivers } from "./setup";

async function start(example: string, driver: NonNullable<TestStackOptions["driver"]>) {
  const stack = await TestStack.create({ program: copyOf(example), driver });
  onTestFinished(() => stack.close());
  const application = await startApplication();
  await stack.setConfig(`${example}:port`, `${application.port}`);
  return { stack, application };
}

/** Delivers a body to the agent that was given this configuration, and to the endpoint with this policy. */
async function deliver(agents: Agent[], body: string, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(
    agents.map(async ({ url }) => (await fetch(url, { method: "POST", body, headers })).status),
  );
}

async function agentsOf(stack: TestStack, config: unknown, upstream: number): Promise<Agent[]> {
  const [endpoint] = stack.emulator.endpoints;
  const agents = [
    await Agent.start({ config: String(config) }),
    await Agent.start({ trafficPolicy: endpoint?.traffic_policy ?? "", upstream }),
  ];
  onTestFinished(async () => {
    for (const agent of agents) await agent.close();
  });
  return agents;
}

onBothDrivers("the example calendly", (_, driver) => {
  test("takes bookings that Calendly signed with the key of its subscription, and nothing else", async () => {
    const { stack, application } = await start("calendly", driver);
    await stack.setConfig("calendly:signingKey", { secret: "a key of our choice" });
    const { outputs } = await stack.up({ skipPreview: true });
    expect(outputs["subscription"]).toEqual({
      url: "https://hooks.example.com",
      events: ["invitee.created", "invitee.canceled"],
      scope: "user",
      signing_key: "a key of our choice",
    });
    const agents = await agentsOf(stack, outputs["agentConfig"], application.port);
    const { signing_key: secret } = outputs["subscription"] as { signing_key: string };
    for (const event of ["invitee.created", "invitee.canceled"]) {
      const body = JSON.stringify({ event, payload: { email: "a@example.com" } });
      expect(await deliver(agents, body, signWebhook("calendly", { body, secret }))).toEqual([201, 201]);
      expect(await deliver(agents, body, signWebhook("calendly", { body, secret: "theirs" }))).toEqual([
        403, 403,
      ]);
    }
    expect(application.seen.map(({ body }) => JSON.parse(body.toString()).event)).toEqual([
      "invitee.created",
      "invitee.created",
      "invitee.canceled",
      "invitee.canceled",
    ]);
  });
});

const FIRST = "b2xkLXNlY3JldC1vbGQtc2VjcmV0";
const SECOND = "bmV3LXNlY3JldC1uZXctc2VjcmV0";

onBothDrivers("the example brex", (_, driver) => {
  test("verifies with the secret that Brex's API calls active, and follows its rotation", async () => {
    const { stack, application } = await start("brex", driver);
    const brex = await startBrex();
    await stack.setConfig("brex:brexApi", brex.url);
    await stack.setConfig("brex:brexToken", { secret: "a token" });

    brex.secrets = [];
    expect(errors(await failure(stack.preview())).join()).toMatch(
      /brex: secret is empty. Ask Brex's API for it/,
    );
    brex.secrets = [{ secret: FIRST, status: "ACTIVE" }];
    await stack.up({ skipPreview: true });
    brex.secrets = [
      { secret: FIRST, status: "PENDING_REVOKE" },
      { secret: SECOND, status: "ACTIVE" },
    ];
    const { outputs, requests } = await stack.up({ skipPreview: true });
    expect(requests.map(({ method }) => method)).toEqual(["PATCH"]);
    expect(outputs["registration"]).toEqual({
      url: "https://hooks.example.com",
      event_types: ["USER_UPDATED"],
    });

    const agents = await agentsOf(stack, outputs["agentConfig"], application.port);
    const body = JSON.stringify({ event_type: "USER_UPDATED", user_id: "u_1" });
    // While the old secret is being revoked Brex signs with both.
    const both = [FIRST, SECOND].map((secret) => signWebhook("brex", { body, secret, id: "msg_1" }));
    const rotating = {
      ...both[1],
      "Webhook-Signature": both.map((each) => each["Webhook-Signature"]).join(" "),
    };
    expect(await deliver(agents, body, rotating)).toEqual([201, 201]);
    expect(await deliver(agents, body, both[0] ?? {})).toEqual([403, 403]);
    expect(application.seen.map((seen) => seen.body.toString())).toEqual([body, body]);
  });
});

/** Brex's listing of webhook secrets, for the one token that it knows. */
async function startBrex() {
  const brex = { url: "", secrets: [] as { secret: string; status: string }[] };
  const server = createServer((request, response) => {
    const known =
      request.headers.authorization === "Bearer a token" && request.url === "/v1/webhooks/secrets";
    response.writeHead(known ? 200 : 401).end(JSON.stringify(known ? brex.secrets : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  brex.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return brex;
}
