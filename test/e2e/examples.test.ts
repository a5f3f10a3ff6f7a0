import { expect, onTestFinished, test } from "vitest";
import { Emulator, signWebhook, TestStack } from "../../sdk/testing";
import { deliverToAgent } from "../examples/agents";
import {
  copyOf,
  FIRST,
  policyOf,
  SECOND,
  startBrexStack,
  startEnvironment,
  startWithApplication,
} from "./example";
import { methods, onBothDrivers } from "./setup";

onBothDrivers("the example lookup", (_, driver) => {
  test("lists the endpoints of agents and edges, and creates a cloud endpoint for an agent's", async () => {
    const stack = await TestStack.create({ program: copyOf("lookup"), driver });
    onTestFinished(() => stack.close());
    const backend = stack.emulator.seed({
      type: "ephemeral",
      url: "https://shop.internal",
      upstream_url: "http://localhost:8080",
    });
    const edge = stack.emulator.seed({ type: "edge", public_url: "tls://edge.example.com" });
    const up = await stack.up({ skipPreview: true });
    expect(up.outputs).toEqual({
      url: "https://shop.example.com",
      table: [
        { id: edge.id, type: "edge", url: "tls://edge.example.com", servedBy: edge.edge?.id },
        {
          id: backend.id,
          type: "ephemeral",
          url: "https://shop.internal",
          servedBy: "http://localhost:8080",
        },
      ],
    });
    // The look-ups share a list.
    expect(methods(up)).toEqual(["GET", "POST"]);
    expect(stack.emulator.endpoints[0]).toMatchObject({ description: `in front of ${backend.id}` });
  });
});

onBothDrivers("the example accounts", (_, driver) => {
  test("creates an endpoint on two accounts, each with its own key", async () => {
    const partner = await Emulator.start();
    onTestFinished(() => partner.close());
    const other = partner.seed({ type: "edge", public_url: "tls://edge.example.com" });
    const stack = await TestStack.create({
      program: copyOf("accounts"),
      driver,
      config: {
        "accounts:partnerApiKey": { secret: partner.apiKey },
        "accounts:partnerBaseUrl": partner.baseUrl,
      },
    });
    onTestFinished(() => stack.close());
    const up = await stack.up({ skipPreview: true });
    expect(up.outputs).toEqual({
      urls: ["https://shop.example.com", "https://shop.partner.example.com"],
      partnerServes: ["https://shop.partner.example.com", other.public_url],
    });
    expect(stack.emulator.endpoints).toHaveLength(1);
  });
});

onBothDrivers("the example environments", (_, driver) => {
  test("combines the fragments and the environment's settings in each endpoint's policy", async () => {
    const dev = await startEnvironment("dev", driver);
    const up = await dev.up({ skipPreview: true });
    expect(up.outputs).toEqual({ urls: ["https://shop.dev.example.com", "https://api.dev.example.com"] });
    expect(policyOf(dev, "https://shop.dev.example.com")).toEqual([
      ["restrict-ips", { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] }],
      ["rate-limit", expect.objectContaining({ capacity: 600 })],
      ["forward-internal", { url: "https://shop.dev.internal" }],
    ]);
  });
});

/** Delivers a body to the public endpoint, which verifies it before it forwards to the agent. Returns the status. */
async function deliver({ emulator }: TestStack, body: string, headers: Record<string, string>) {
  return (await emulator.fetch("https://hooks.example.com", { method: "POST", body, headers })).status;
}

onBothDrivers("the example calendly", (_, driver) => {
  test("accepts a delivery that Calendly signed with the subscription's key, and refuses others", async () => {
    const { stack, application } = await startWithApplication("calendly", driver);
    await stack.setConfig("calendly:signingKey", { secret: "a key of our choice" });
    const { outputs } = await stack.up({ skipPreview: true });
    expect(outputs["subscription"]).toEqual({
      url: "https://hooks.example.com",
      events: ["invitee.created", "invitee.canceled"],
      scope: "user",
      signing_key: "a key of our choice",
    });
    stack.emulator.connect({ config: String(outputs["agentConfig"]) });
    const { signing_key: secret } = outputs["subscription"] as { signing_key: string };
    for (const event of ["invitee.created", "invitee.canceled"]) {
      const body = JSON.stringify({ event, payload: { email: "a@example.com" } });
      const [right, wrong] = [secret, "theirs"].map((key) => signWebhook("calendly", { body, secret: key }));
      for (const [headers, status] of [
        [right, 201],
        [wrong, 403],
      ] as const) {
        expect(await deliver(stack, body, headers ?? {})).toBe(status);
        expect(await deliverToAgent(outputs["agentConfig"], body, headers ?? {})).toBe(status);
      }
    }
    expect(application.requests.map(({ body }) => JSON.parse(body.toString()).event)).toEqual([
      "invitee.created",
      "invitee.created",
      "invitee.canceled",
      "invitee.canceled",
    ]);
  });
});

onBothDrivers("the example brex", (_, driver) => {
  test("verifies with the active secret of Brex's API", async () => {
    const { stack, application, brex } = await startBrexStack(driver);
    brex.secrets = [
      { secret: FIRST, status: "PENDING_REVOKE" },
      { secret: SECOND, status: "ACTIVE" },
    ];
    const { outputs } = await stack.up({ skipPreview: true });
    expect(outputs["registration"]).toEqual({
      url: "https://hooks.example.com",
      event_types: ["USER_UPDATED"],
    });

    stack.emulator.connect({ config: String(outputs["agentConfig"]) });
    const body = JSON.stringify({ event_type: "USER_UPDATED", user_id: "u_1" });
    // While Brex revokes the old secret, it signs with both.
    const both = [FIRST, SECOND].map((secret) => signWebhook("brex", { body, secret, id: "msg_1" }));
    const rotating = {
      ...both[1],
      "Webhook-Signature": both.map((each) => each["Webhook-Signature"]).join(" "),
    };
    for (const [headers, status] of [
      [rotating, 201],
      [both[0], 403],
    ] as const) {
      expect(await deliver(stack, body, headers ?? {})).toBe(status);
      expect(await deliverToAgent(outputs["agentConfig"], body, headers ?? {})).toBe(status);
    }
    expect(application.requests.map((request) => request.body.toString())).toEqual([body, body]);
  });
});
