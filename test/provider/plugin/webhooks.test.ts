import { describe, expect, test } from "vitest";
import { thrown } from "../service";
import { CallError, monitor, plugin, secret } from "./pluginClient";

const MERGE = "endpoints:index:mergeTrafficPolicy";
const CONFIGS = "endpoints:index:mergeAgentConfigs";
const TYPE = "endpoints:index:WebhookVerification";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const forward = { actions: [{ type: "forward-internal", config: { url: "https://hooks.internal" } }] };
/** The messages that users see. Pulumi's runtime also sends messages for debugging. */
const shown = (logged: { severity: number; message: string }[]) =>
  logged.filter(({ severity }) => severity > 0).map(({ message }) => message);
const verifies = (more: object = {}) =>
  JSON.stringify({
    on_http_request: [
      { ...more, actions: [{ config: { provider: "github", secret: "CANARY" }, type: "verify-webhook" }] },
    ],
  });
const shouting = { expressions: ["req.headers['X-Event'][0] == 'push'"] };

async function constructed(...components: [name: string, inputs: object][]) {
  const { address, registered } = await monitor();
  const parts = await plugin({ configure: false });
  const all = components.map(([name, inputs]) => parts.client.construct(address, name, { ...inputs }));
  return { ...parts, registered, answers: await Promise.all(all) };
}

describe("a component of a program in another language", () => {
  test("has the outputs of a Node program's, all but two of them secret, without a setting of the account", async () => {
    const inputs = { platform: "github", secret: secret("CANARY"), agent: { upstream: 8080 } };
    const { answers, registered } = await constructed(["hooks", inputs]);
    const urn = `urn:pulumi:stack::project::${TYPE}::hooks`;
    const state = {
      platform: "github",
      secretSource: expect.stringMatching(/^Generate a long random secret/),
      trafficPolicy: secret(verifies()),
      agentOptions: secret(["--verify-webhook", "github", "--verify-webhook-secret", "CANARY"]),
      agentConfig: secret(expect.stringContaining('name: "hooks"')),
    };
    expect(answers).toEqual([{ urn, state }]);
    expect(registered).toEqual([{ urn, outputs: state }]);
  });

  test("has secret outputs although the program gave its secret in plain text", async () => {
    const { answers } = await constructed(["hooks", { platform: "github", secret: "CANARY" }]);
    expect(answers).toMatchObject([{ state: { trafficPolicy: secret(verifies()) } }]);
  });

  test("previews with an unknown secret, and says that it could not be checked", async () => {
    const { answers, logged } = await constructed(["hooks", { platform: "github", secret: UNKNOWN }]);
    expect(answers).toMatchObject([{ state: { platform: "github", trafficPolicy: UNKNOWN } }]);
    expect(shown(logged)).toEqual(["hooks: the secret is not known yet; `pulumi up` checks its form."]);
  });

  test("fails with all its mistakes, at paths where the engine finds no value to print", async () => {
    const inputs = {
      platform: "CANARY-1",
      secret: secret("CANARY-2\n"),
      agent: { upstream: 0 },
      enforce: "no",
    };
    const error = await thrown(constructed(["hooks", inputs]));
    expect(error.message).toBe("3 inputs are wrong");
    expect(error instanceof CallError && error.mistakes).toEqual([
      expect.stringMatching(/^inputs\.enforce must be true or false$/),
      expect.stringMatching(/^inputs\.agent\.upstream must be a port/),
      expect.stringMatching(/^inputs\.secret ends with a line break/),
    ]);
    expect(JSON.stringify(error)).not.toContain("CANARY");
  });

  test("fails for an unknown input with the likely name, and leaves the plugin at work", async () => {
    const { address } = await monitor();
    const { client, emulator } = await plugin();
    const error = await thrown(client.construct(address, "hooks", { provider: "github", secret: "CANARY" }));
    expect(error instanceof CallError && error.mistakes).toContainEqual(
      expect.stringMatching(
        /^inputs\.provider is no input of a webhook verification; did you mean platform\?$/,
      ),
    );
    const { id } = await client.create({ url: "https://shop.example.com" });
    expect(emulator.endpoints).toMatchObject([{ id }]);
  });

  test("ends as cancelled before the engine closes the connection, which it would report as the component's problem", async () => {
    const { client } = await plugin({ configure: false });
    let register = () => {};
    const registers = new Promise<void>((resolve) => (register = resolve));
    const { address } = await monitor(register);
    const failed = thrown(client.construct(address, "hooks", { platform: "github", secret: "CANARY" }));
    await registers;
    await client.cancel();
    client.close();
    expect((await failed).message).toBe("cancelled, because the run ended");
  });

  test("of another type is refused with the type that exists", async () => {
    const { address } = await monitor();
    const { client } = await plugin();
    const error = await thrown(client.construct(address, "hooks", {}, "endpoints:index:WebhookVerifier"));
    expect(error.message).toContain(TYPE);
  });
});

describe("components of one run", () => {
  const expecting = (expectedDeliveriesPerMonth: number) => ({
    platform: "github",
    secret: "CANARY",
    expectedDeliveriesPerMonth,
  });

  test("cause another warning when the sum has doubled, and it names five of them", async () => {
    const { client, logged } = await plugin();
    const { address } = await monitor();
    for (let index = 0; index < 21; index++) await client.construct(address, `c${index}`, expecting(100));
    expect(shown(logged)).toEqual([
      expect.stringMatching(/^600 .*\(c0 100, c1 100, c2 100, c3 100, c4 100, 1 more\)/),
      expect.stringMatching(/^1200 .*, 7 more\)/),
    ]);
  });

  test("add up their expected deliveries, and those of another run do not count", async () => {
    const { client, logged } = await plugin();
    const [first, second] = [await monitor(), await monitor()];
    await client.construct(first.address, "a", expecting(300));
    await client.construct(second.address, "c", expecting(300));
    expect(shown(logged)).toEqual([]);
    await client.construct(first.address, "b", expecting(250));
    expect(shown(logged)).toEqual([
      expect.stringMatching(
        /^550 webhook deliveries a month are expected \(a 300, b 250\), and a free account/,
      ),
    ]);
  });
});

describe("mergeTrafficPolicy in another language", () => {
  const merge = async (args: object, parts = plugin({ configure: false })) => {
    const { client, logged } = await parts;
    const { result, failures } = await client.invoke(MERGE, { ...args });
    return { result, failures, warnings: shown(logged) };
  };

  test("puts the verifications before the policy's own rules, and its result is secret", async () => {
    const policy = { on_http_request: [forward] };
    const { result, warnings } = await merge({ policy, verifications: [secret(verifies())] });
    const [rule] = JSON.parse(verifies()).on_http_request;
    expect(result).toEqual({ trafficPolicy: secret({ on_http_request: [rule, forward] }) });
    expect(warnings).toEqual([]);
  });

  test("is unknown while a verification is, and keeps unknown parts of the policy", async () => {
    const unknown = { trafficPolicy: secret(UNKNOWN) };
    expect((await merge({ policy: {}, verifications: [UNKNOWN] })).result).toEqual(unknown);
    expect((await merge({ policy: UNKNOWN, verifications: [verifies()] })).result).toEqual(unknown);
    const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: UNKNOWN } }] }] };
    const { result } = await merge({ policy, verifications: [verifies()] });
    expect(JSON.stringify(result)).toContain(`"status_code":"${UNKNOWN}"`);
  });

  test.each([
    [[], /the list of verifications is empty/],
    [["CANARY"], /verification 1 is not the trafficPolicy of a webhook verification$/],
    [[verifies(), '{"on_http_request":[]}'], /verification 2 is not the trafficPolicy/],
    [[verifies(), verifies()], /would refuse all requests/],
  ])("refuses the verifications %j without a quotation", async (verifications, words) => {
    const { message } = await thrown(merge({ policy: { on_http_request: [forward] }, verifications }));
    expect(message).toMatch(words);
    expect(message).not.toContain("CANARY");
  });

  test("names the argument of a wrong type", async () => {
    const { failures } = await merge({ policy: 7, verifications: "CANARY" });
    expect(failures).toEqual([
      { property: "policy", reason: "must be an object or text" },
      { property: "verifications", reason: expect.stringMatching(/^must be a list/) },
    ]);
    const items = await merge({ policy: {}, verifications: [verifies(), null] });
    expect(items.failures).toEqual([
      { property: "verifications.1", reason: "must be the output trafficPolicy of a webhook verification" },
    ]);
  });

  test("warns of a header name once: neither the merge nor the endpoint repeats the component's warning", async () => {
    const { client, logged } = await plugin();
    const { address } = await monitor();
    const inputs = { platform: "github", secret: "CANARY", ...shouting };
    await client.construct(address, "hooks", inputs);
    const policy = {
      on_http_request: [{ ...forward, expressions: ["req.headers['X-Own'][0] == 'a'"] }, forward],
    };
    const { result } = await client.invoke(MERGE, { policy, verifications: [secret(verifies(shouting))] });
    await client.check({}, { url: "https://hooks.example.com", trafficPolicy: result["trafficPolicy"] });
    expect(shown(logged).map((message) => message.replace(/ with .*/, ""))).toEqual([
      "hooks: expressions[0] (character 13) looks for X-Event",
      "mergeTrafficPolicy: policy.on_http_request[0].expressions[0] (character 13) looks for X-Own",
    ]);
  });
});

test("a merge warns of its own policy once a run, without the secrets in it, unless warnings are off", async () => {
  const log = { type: "log", config: { metadata: secret("CANARY") } };
  const policy = { on_http_request: [{ actions: [log, { type: "denyy" }, { type: "deny" }] }] };
  const verifications = [verifies()];
  const { client, logged } = await plugin();
  for (let twice = 0; twice < 2; twice++) await client.invoke(MERGE, { policy, verifications });
  expect(shown(logged)).toEqual([
    expect.stringMatching(/^mergeTrafficPolicy: policy\.on_http_request\[0\]\.actions\[1\]\.type .*deny/),
  ]);
  const quiet = await plugin({ environment: { ENDPOINTS_POLICY_WARNINGS: "off" } });
  await quiet.client.invoke(MERGE, { policy, verifications });
  expect(shown(quiet.logged)).toEqual([]);
});

describe("mergeAgentConfigs in another language", () => {
  test("makes one secret configuration of several", async () => {
    const agent = (upstream: number) => ({ platform: "github", secret: "CANARY", agent: { upstream } });
    const { client, answers } = await constructed(["a", agent(1)], ["b", agent(2)]);
    const configs = answers.map(({ state }) => state["agentConfig"]);
    const { result } = await client.invoke(CONFIGS, { configs });
    expect(result).toEqual({ agentConfig: secret(expect.stringMatching(/name: "a"[\s\S]*name: "b"/)) });
    expect((await client.invoke(CONFIGS, { configs: [UNKNOWN] })).result).toEqual({
      agentConfig: secret(UNKNOWN),
    });
  });

  test("refuses what is no configuration of an agent, without a quotation", async () => {
    const { client } = await plugin();
    const { message } = await thrown(client.invoke(CONFIGS, { configs: ["CANARY"] }));
    expect(message).toMatch(/configuration 1 is not the agentConfig of a webhook verification/);
    expect(message).not.toContain("CANARY");
  });

  test("names the verification without an agent, whether its output arrives as null or, from Go, as empty text", async () => {
    const { client, answers } = await constructed(["a", { platform: "github", secret: "CANARY" }]);
    expect(answers[0]?.state["agentConfig"]).toEqual(secret(null));
    const { message } = await thrown(client.invoke(CONFIGS, { configs: [null, ""] }));
    expect(message.split("\n")).toEqual(
      [1, 2].map((place) =>
        expect.stringContaining(`configuration ${place} is missing; give its verification an agent`),
      ),
    );
  });
});
