import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { thrown } from "../emulated";
import { mistakesIn, monitor, plugin, secret } from "./pluginClient";

const MERGE = "endpoints:index:mergeTrafficPolicy";
const CONFIGS = "endpoints:index:mergeAgentConfigs";
const TYPE = "endpoints:index:WebhookVerification";
const forward = { actions: [{ type: "forward-internal", config: { url: "https://hooks.internal" } }] };
/** The messages that users see. Pulumi's runtime also sends messages for debugging. */
const shown = (logged: { severity: number; message: string }[]) =>
  logged.filter(({ severity }) => severity > 0).map(({ message }) => message);
const verify = { config: { provider: "github", secret: "CANARY" }, type: "verify-webhook" };
const verifies = () => JSON.stringify({ on_http_request: [{ actions: [verify] }] });
const github = { platform: "github", secret: "CANARY" };

async function constructed(...components: [name: string, inputs: object][]) {
  const { address, registered } = await monitor();
  const parts = await plugin({ configure: false });
  const all = components.map(([name, inputs]) => parts.client.construct(address, name, { ...inputs }));
  return { ...parts, registered, answers: await Promise.all(all) };
}

describe("a component of a program in another language", () => {
  test("has the outputs of a Node program's, all but two of them secret, whether its secret was one or not", async () => {
    for (const given of ["CANARY", secret("CANARY")]) {
      const inputs = { platform: "github", secret: given, agent: { upstream: 8080 } };
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
    }
  });

  test("previews with an unknown secret, and says that it could not be checked", async () => {
    const { answers, logged } = await constructed(["hooks", { platform: "github", secret: UNKNOWN }]);
    expect(answers).toMatchObject([{ state: { platform: "github", trafficPolicy: UNKNOWN } }]);
    expect(shown(logged)).toEqual(["hooks: the secret is not known yet; `pulumi up` checks its form."]);
  });

  test("fails with all its mistakes, at paths where the engine finds no value to print, and leaves the plugin at work", async () => {
    const { address } = await monitor();
    const { client } = await plugin();
    const wrong = { platform: "CANARY-1", secret: secret("CANARY-2\n"), enforce: "no", provider: "x" };
    const error = await thrown(client.construct(address, "hooks", wrong));
    expect(error.message).toBe("3 inputs are wrong");
    expect(mistakesIn(error)).toEqual([
      "inputs.provider is no input of a webhook verification; did you mean platform?",
      "inputs.enforce must be true or false",
      expect.stringMatching(/^inputs\.secret ends with a line break/),
    ]);
    expect(JSON.stringify(error)).not.toContain("CANARY");
    expect((await client.create({ url: "https://shop.example.com" })).id).toMatch(/^ep_/);
    const other = await thrown(client.construct(address, "hooks", {}, "endpoints:index:WebhookVerifier"));
    expect(other.message).toContain(TYPE);
  });

  test("is refused if its name is built from something else than text", async () => {
    const { address } = await monitor();
    const { client } = await plugin({ configure: false });
    const error = await thrown(client.construct(address, "undefined-hooks", github));
    expect(error.message).toMatch(/^the name "undefined-hooks" of a WebhookVerification contains undefined/);
  });

  test("is constructed after another one of its run failed, because the engine did not answer", async () => {
    const { address, recover } = await monitor(undefined, { failsAtFirst: true });
    const { client } = await plugin({ configure: false });
    await thrown(client.construct(address, "first", github));
    recover();
    expect((await client.construct(address, "second", github)).urn).toMatch(/second$/);
  });

  test("ends as cancelled before the engine closes the connection, which it would report as the component's problem", async () => {
    const { client } = await plugin({ configure: false });
    let register = () => {};
    const registers = new Promise<void>((resolve) => (register = resolve));
    const { address } = await monitor(register);
    const failed = thrown(client.construct(address, "hooks", github));
    await registers;
    await client.cancel();
    client.raw.close();
    expect((await failed).message).toBe("cancelled, because the run ended");
  });
});

describe("mergeTrafficPolicy in another language", () => {
  const deny = (status_code: unknown) => ({
    on_http_request: [{ actions: [{ type: "deny", config: { status_code } }] }],
  });
  const own = { on_http_request: [forward] };
  const [rule] = JSON.parse(verifies()).on_http_request;

  // biome-ignore format: one line for each call
  test.each<[string, policy: unknown, verifications: unknown, trafficPolicy: unknown]>([
    ["has the verifications before the policy's own rules", own, [secret(verifies())], { on_http_request: [rule, forward] }],
    ["keeps unknown parts of the policy", deny(UNKNOWN), [verifies()], { on_http_request: [rule, deny(UNKNOWN).on_http_request[0]] }],
  ])("%s, and is secret", async (_, policy, verifications, trafficPolicy) => {
    const { client, logged } = await plugin({ configure: false });
    const { result } = await client.invoke(MERGE, { policy, verifications });
    expect(result).toEqual({ trafficPolicy: secret(trafficPolicy) });
    expect(shown(logged)).toEqual([]);
  });

  test("refuses verifications without a quotation", async () => {
    const { client } = await plugin({ configure: false });
    const { message } = await thrown(client.invoke(MERGE, { policy: own, verifications: ["CANARY"] }));
    expect(message).toMatch(/verification 1 is no WebhookVerification, nor the trafficPolicy of one$/);
  });

  test("warns of its own policy once a run, without the secrets in it", async () => {
    const log = { type: "log", config: { metadata: secret("CANARY") } };
    const policy = { on_http_request: [{ actions: [log, { type: "denyy" }] }, forward] };
    const warnings = async (environment = {}) => {
      const { client, logged } = await plugin({ environment });
      for (let twice = 0; twice < 2; twice++)
        await client.invoke(MERGE, { policy, verifications: [secret(verifies())] });
      return shown(logged);
    };
    const misspelt = /^mergeTrafficPolicy: policy\.on_http_request\[0\]\.actions\[1\]\.type "denyy"/;
    expect(await warnings()).toEqual([expect.stringMatching(misspelt)]);
    expect(await warnings({ ENDPOINTS_POLICY_WARNINGS: "off" })).toEqual([]);
  });
});

describe("mergeAgentConfigs in another language", () => {
  test("makes one secret configuration of several, which is unknown while one is", async () => {
    const agent = (upstream: number) => ({ ...github, agent: { upstream } });
    const { client, answers } = await constructed(["a", agent(1)], ["b", agent(2)]);
    const configs = answers.map(({ state }) => state["agentConfig"]);
    const { result } = await client.invoke(CONFIGS, { configs });
    expect(result).toEqual({ agentConfig: secret(expect.stringMatching(/name: "a"[\s\S]*name: "b"/)) });
    const unknown = await client.invoke(CONFIGS, { configs: [UNKNOWN] });
    expect(unknown.result).toEqual({ agentConfig: secret(UNKNOWN) });
  });
});
