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
import { errors, failure, methods, onBothDrivers } from "./setup";

/** Delivers a body to the cloud endpoint, and to an agent with the output `agentConfig`. Returns the statuses. */
async function deliver(stack: TestStack, config: unknown, body: string, headers: Record<string, string>) {
  const url = stack.emulator.endpoints.find(({ type }) => type === "cloud")?.url ?? "";
  const { status } = await stack.emulator.fetch(url, { method: "POST", body, headers });
  return [status, await deliverToAgent(config, body, headers)];
}

onBothDrivers("the example", (_, driver) => {
  test("lookup lists the endpoints of agents and edges, and creates a cloud endpoint for an agent's", async () => {
    const stack = await TestStack.create({ program: copyOf("lookup"), driver });
    onTestFinished(() => stack.close());
    const backend = stack.emulator.seed({
      type: "ephemeral",
      url: "https://shop.internal",
      upstream_url: "http://localhost:8080",
    });
    const edge = stack.emulator.seed({ type: "edge", public_url: "tls://edge.example.com" });
    const up = await stack.up({ skipPreview: true });
    const behind = { url: "https://shop.internal", servedBy: "http://localhost:8080" };
    expect(up.outputs).toEqual({
      url: "https://shop.example.com",
      table: [
        { id: edge.id, type: "edge", url: "tls://edge.example.com", servedBy: edge.edge?.id },
        { id: backend.id, type: "ephemeral", ...behind },
      ],
    });
    // The look-ups share a list.
    expect(methods(up)).toEqual(["GET", "POST"]);
    expect(stack.emulator.endpoints[0]).toMatchObject({ description: `in front of ${backend.id}` });
  });

  test("accounts creates an endpoint on two accounts, each with its own key", async () => {
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

  test("environments deploys dev and prod from the same fragments, each with its own settings", async () => {
    const dev = await startEnvironment("dev", driver);
    const prod = await startEnvironment("prod", driver, { emulator: dev.emulator });
    expect((await dev.up({ skipPreview: true })).outputs).toEqual({
      urls: ["https://shop.dev.example.com", "https://api.dev.example.com"],
    });
    expect(policyOf(dev, "https://shop.dev.example.com")).toEqual([
      ["restrict-ips", { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] }],
      ["rate-limit", expect.objectContaining({ capacity: 600 })],
      ["forward-internal", { url: "https://shop.dev.internal" }],
    ]);
    await prod.up({ skipPreview: true });
    expect(policyOf(dev, "https://shop.example.com")).toEqual([
      ["rate-limit", expect.objectContaining({ capacity: 120 })],
      ["forward-internal", { url: "https://shop.prod.internal" }],
    ]);

    // A change of an environment's setting changes only its endpoints.
    await prod.setConfig("environments:maintenance", "true");
    expect(methods(await prod.up({ skipPreview: true }))).toEqual(["PATCH", "PATCH"]);
    expect(policyOf(dev, "https://api.example.com").at(-1)).toEqual([
      "custom-response",
      expect.objectContaining({ status_code: 503 }),
    ]);
  });

  test("calendly accepts a delivery that was signed with the subscription's key, and refuses others", async () => {
    const { stack, application } = await startWithApplication("calendly", driver);
    await stack.setConfig("calendly:signingKey", { secret: "a key of our choice" });
    const { outputs } = await stack.up({ skipPreview: true });
    expect(outputs["subscription"]).toEqual({
      url: "https://hooks.example.com",
      events: ["invitee.created", "invitee.canceled"],
      scope: "user",
      signing_key: "a key of our choice",
    });
    const config = outputs["agentConfig"];
    stack.emulator.connect({ config: String(config) });
    const body = JSON.stringify({ event: "invitee.created", payload: { email: "a@example.com" } });
    const sign = (secret: string) => signWebhook("calendly", { body, secret });
    expect(await deliver(stack, config, body, sign("a key of our choice"))).toEqual([201, 201]);
    expect(await deliver(stack, config, body, sign("theirs"))).toEqual([403, 403]);
    expect(application.requests.map((request) => request.body.toString())).toEqual([body, body]);
  });

  test("brex fails while Brex has no secret, verifies with the active one, and follows a rotation", async () => {
    const { stack, application, brex } = await startBrexStack(driver);
    expect(errors(await failure(stack.preview())).join()).toMatch(
      /brex: secret is empty. Get it from Brex's API/,
    );
    brex.secrets = [{ secret: FIRST, status: "ACTIVE" }];
    await stack.up({ skipPreview: true });
    brex.secrets = [
      { secret: FIRST, status: "PENDING_REVOKE" },
      { secret: SECOND, status: "ACTIVE" },
    ];
    const rotated = await stack.up({ skipPreview: true });
    expect(methods(rotated)).toEqual(["PATCH"]);
    expect(rotated.outputs["registration"]).toEqual({
      url: "https://hooks.example.com",
      event_types: ["USER_UPDATED"],
    });

    const config = rotated.outputs["agentConfig"];
    stack.emulator.connect({ config: String(config) });
    const body = JSON.stringify({ event_type: "USER_UPDATED", user_id: "u_1" });
    // While Brex revokes the old secret, it signs with both.
    const both = [FIRST, SECOND].map((secret) => signWebhook("brex", { body, secret, id: "msg_1" }));
    const signatures = both.map((each) => each["Webhook-Signature"]).join(" ");
    expect(await deliver(stack, config, body, { ...both[1], "Webhook-Signature": signatures })).toEqual([
      201, 201,
    ]);
    expect(await deliver(stack, config, body, both[0] ?? {})).toEqual([403, 403]);
    expect(application.requests).toHaveLength(2);
  });
});
