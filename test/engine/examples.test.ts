import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { Agent, Emulator, signWebhook, TestStack, type TestStackOptions } from "../../sdk/testing";
import { startApplication } from "../sdk/testing/agent/application";
import { copyOf } from "./example";
import { errors, failure, methods, onBothDrivers } from "./setup";

onBothDrivers("the example lookup", (_, driver) => {
  test("lists what agents and edges serve, and puts a cloud endpoint before an agent's", async () => {
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
    // Each look-up lists only what it asks for.
    expect(methods(up)).toEqual(["GET", "GET", "POST"]);
    expect(stack.emulator.endpoints[0]).toMatchObject({ description: `in front of ${backend.id}` });
  });
});

onBothDrivers("the example accounts", (_, driver) => {
  test("announces a service on two accounts, each with its own key", async () => {
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
    await stack.destroy();
    expect(partner.endpoints.map(({ id }) => id)).toEqual([other.id]);
  });
});

const stackFile = z.object({ config: z.record(z.string(), z.unknown()) });

onBothDrivers("the example environments", (_, driver) => {
  test("gives dev and prod the same program and fragments, each with its own settings", async () => {
    const dev = await startEnvironment("dev", driver);
    const prod = await startEnvironment("prod", driver, { emulator: dev.emulator });

    // Both are on one account, side by side.
    const up = await dev.up({ skipPreview: true });
    expect(up.outputs).toEqual({ urls: ["https://shop.dev.example.com", "https://api.dev.example.com"] });
    expect(methods(await prod.up({ skipPreview: true }))).toEqual(["POST", "POST"]);

    expect(policyOf(dev, "https://shop.dev.example.com")).toEqual([
      ["restrict-ips", { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] }],
      ["rate-limit", expect.objectContaining({ capacity: 600 })],
      ["forward-internal", { url: "https://shop.dev.internal" }],
    ]);
    expect(policyOf(dev, "https://shop.example.com")).toEqual([
      ["rate-limit", expect.objectContaining({ capacity: 120 })],
      ["forward-internal", { url: "https://shop.prod.internal" }],
    ]);

    // A change of one environment's setting is a change of its endpoints alone.
    await prod.setConfig("environments:maintenance", "true");
    const change = await prod.up({ skipPreview: true });
    expect(methods(change)).toEqual(["PATCH", "PATCH"]);
    expect(policyOf(dev, "https://api.example.com").at(-1)).toEqual([
      "custom-response",
      expect.objectContaining({ status_code: 503 }),
    ]);
  });

  test("refuses a stack that is no environment, before any request", async () => {
    const stack = await startEnvironment("dev", driver, { stackName: "staging" });
    const result = await failure(stack.preview());
    expect(errors(result).join()).toContain("the stack staging is no environment: select dev or prod");
    expect(result.requests).toEqual([]);
  });
});

/** A stack with the settings that the environment's file has, as the CLI would read it. */
async function startEnvironment(
  environment: string,
  driver: TestStack["driver"],
  options: Partial<TestStackOptions> = {},
): Promise<TestStack> {
  const program = copyOf("environments");
  const file = (name: string) => join(program, `Pulumi.${name}.yaml`);
  const { config } = stackFile.parse(parse(readFileSync(file(environment), "utf8")));
  rmSync(file(environment)); // The driver writes its own.
  const stack = await TestStack.create({
    program,
    driver,
    stackName: environment,
    config: Object.fromEntries(Object.entries(config).map(([key, value]) => [key, settingText(value)])),
    ...options,
  });
  onTestFinished(() => stack.close());
  return stack;
}

const settingText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** What the live endpoint with this URL does with a request: each action and its configuration, in order. */
function policyOf(stack: TestStack, url: string): [string, unknown][] {
  const endpoint = stack.emulator.endpoints.find((one) => one.url === url);
  const policy = z
    .object({
      on_http_request: z.array(
        z.object({ actions: z.array(z.object({ type: z.string(), config: z.unknown() })) }),
      ),
    })
    .parse(JSON.parse(endpoint?.traffic_policy ?? "{}"));
  return policy.on_http_request.flatMap(({ actions }) =>
    actions.map(({ type, config }): [string, unknown] => [type, config]),
  );
}

async function startWithApplication(example: string, driver: NonNullable<TestStackOptions["driver"]>) {
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
    const { stack, application } = await startWithApplication("calendly", driver);
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
    const { stack, application } = await startWithApplication("brex", driver);
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
