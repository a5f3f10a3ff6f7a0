import { describe, expect, test } from "vitest";
import type { RunResult } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, PLUGIN } from "./setup";

const CANARY = "CANARY-77ab";

/** The warnings of a run, sorted. */
const warnings = ({ diagnostics }: RunResult) =>
  diagnostics
    .filter(({ severity }) => severity === "warning")
    .map(({ message }) => message.trim())
    .sort();

const TYPO = `{ on_http_request: [{ actions: [{ type: "custom-respons", config: { body: "${CANARY}" } }] }] }`;
const ABOUT =
  'trafficPolicy.on_http_request[0].actions[0].type "custom-respons" is no action known to this version; did you mean custom-response?';

onBothDrivers("a preview with mistakes in policies", (start) => {
  describe.each([["dynamic"], ["plugin"]])("of resources of the %s provider", (provider) => {
    const config = { "endpoints:provider": provider };

    test("warns once for each resource, with its name, without a request and without values", async () => {
      const stack = await start(
        `
const url = (name) => "https://" + name + ".example.com";
new CloudEndpoint("object", { url: url("object"), trafficPolicy: ${TYPO} });
new CloudEndpoint("output", { url: url("output"), trafficPolicy: pulumi.output(${TYPO}) });
new CloudEndpoint("text", { url: url("text"), trafficPolicy: "on_http_request:\\n- actions:\\n  - type: dney\\n" });
new CloudEndpoint("silent", { url: url("silent"), trafficPolicy: { on_http_request: [{ actions: [{ type: "rate-limit", config: {
  name: "a", algorithm: "sliding_window", capacity: 1, rate: "60s", bucket_key: ["conn.client_ip"] } }] }] } });
new CloudEndpoint("expression", { url: url("expression"), trafficPolicy: "on_http_request:\\n- expressions: [\\"req.path == '/${CANARY}'\\"]\\n  actions: [{ type: deny }]\\n" });
new CloudEndpoint("good", { url: url("good"), trafficPolicy: { on_http_request: [{ actions: [{ type: "deny" }] }] } });
new CloudEndpoint("connections", { url: "tcp://1.tcp.example.com:12345", trafficPolicy: { on_http_request: [] , on_tcp_connect: [{ actions: [{ type: "deny" }] }] } });`,
        { config },
      );
      const result = await stack.preview();
      expect(warnings(result)).toEqual([
        "connections: trafficPolicy.on_http_request is no phase of tcp endpoints, only of http and https",
        "expression: trafficPolicy.on_http_request[0].expressions[0] (line 2, column 18) uses req.path, which is no variable known to this version; did you mean req.url.path?",
        `object: ${ABOUT}`,
        `output: ${ABOUT}`,
        "silent: trafficPolicy has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end",
        'text: trafficPolicy.on_http_request[0].actions[0].type (line 3) "dney" is no action known to this version; did you mean deny?',
      ]);
      expect(JSON.stringify(result.diagnostics)).not.toContain(CANARY);
      expect(result.requests).toEqual([]);
    });

    test("skips secret and unknown parts", async () => {
      const stack = await start(
        `
const first = new CloudEndpoint("first", { url: "https://first.example.com", trafficPolicy: { on_http_request: [{ actions: [{ type: "deny" }] }] } });
new CloudEndpoint("expressions", { url: "https://expressions.example.com", trafficPolicy: { on_http_request: [
  { expressions: [pulumi.secret("req.CANARY == ''"), pulumi.interpolate\`'\${first.id}' == req.\`], actions: [{ type: "deny" }] }] } });
new CloudEndpoint("whole", { url: "https://whole.example.com", trafficPolicy: pulumi.secret(${TYPO}) });
new CloudEndpoint("unknown", { url: "https://unknown.example.com", trafficPolicy: first.id.apply((id) => ({ nonsense: id })) });
new CloudEndpoint("parts", { url: "https://parts.example.com", trafficPolicy: { on_http_request: [
  { actions: [pulumi.secret({ type: "secret-action" }), { type: "deny", config: first.id.apply((id) => ({ nonsense: id })) }] },
  { actions: [{ type: "deny", config: { status: 404 } }] } ] } });`,
        { config },
      );
      expect(warnings(await stack.preview())).toEqual([
        "parts: trafficPolicy.on_http_request[1].actions[0].config.status is no key of deny known to this version; did you mean status_code?",
      ]);
    });

    test("fails if policy warnings are errors, names each once, and an up without a preview creates none of the doubted endpoints", async () => {
      const stack = await start(
        `const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");
         new CloudEndpoint("one", { url: "https://one.example.com", trafficPolicy: ${TYPO} });
         new CloudEndpoint("two", { url: "https://two.example.com", trafficPolicy: ${TYPO} });
         new WebhookVerification("hooks", { platform: "github", secret: "0123456789", expressions: ["req.path == ''"] });
         mergeTrafficPolicy(${TYPO}, new WebhookVerification("right", { platform: "github", secret: "0123456789" }));`,
        { config: { ...config, "endpoints:policyWarnings": "error" } },
      );
      for (const run of [() => stack.preview(), () => stack.up({ skipPreview: true })]) {
        const result = await failure(run());
        expect(warnings(result)).toEqual([]);
        const all = errors(result).join("\n");
        expect(all.match(/"custom-respons" is no action/g)).toHaveLength(3);
        expect(all).toMatch(/resource 'one' has a problem: trafficPolicy\.on_http/);
        expect(all).toContain(`two: ${ABOUT}`);
        expect(all).toContain(`mergeTrafficPolicy: ${ABOUT.replace("trafficPolicy", "policy")}`);
        expect(all.match(/hooks: expressions\[0\] .*uses req\.path/g)).toHaveLength(1);
        expect(result.requests).toEqual([]);
      }
    });

    test("has no warning if policy warnings are off, and an up creates the endpoints", async () => {
      const stack = await start(
        `new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: ${TYPO} });`,
        {
          config: { ...config, "endpoints:policyWarnings": "off" },
        },
      );
      expect(warnings(await stack.up())).toEqual([]);
      expect(stack.emulator.endpoints).toHaveLength(1);
    });
  });

  test("warns once from the plugin for programs without this package's class, and not of secrets", async () => {
    const stack = await start(`${PLUGIN}
new PluginEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: ${TYPO} });
new PluginEndpoint("expression", { url: "https://expression.example.com", trafficPolicy: { on_http_request: [
  { expressions: [pulumi.secret("req.CANARY == ''"), "conn.client_ip in ['10.0.0.0/8']"], actions: [{ type: "deny" }] }] } });
new PluginEndpoint("text", { url: "https://text.example.com", trafficPolicy: "on_http_request: []" });
new PluginEndpoint("secret", { url: "https://secret.example.com", trafficPolicy: pulumi.secret(${TYPO}) });
const off = new Provider("off", { policyWarnings: "off" });
new PluginEndpoint("off", { url: "https://off.example.com", trafficPolicy: ${TYPO} }, { provider: off });`);
    const result = await stack.preview();
    expect(warnings(result)).toEqual([
      expect.stringMatching(/^trafficPolicy has no action that answers/),
      ABOUT,
      expect.stringMatching(
        /^trafficPolicy\.on_http_request\[0\]\.expressions\[1\] \(character 1\) compares conn\.client_ip/,
      ),
    ]);
    expect(result.requests).toEqual([]);
  });

  test("fails in programs without this package's class if policy warnings are errors", async () => {
    const stack = await start(
      `${PLUGIN}
new PluginEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: ${TYPO} });`,
      { config: { "endpoints:policyWarnings": "error" } },
    );
    const result = await failure(stack.preview());
    expect(errors(result)).toEqual([expect.stringContaining(`resource 'shop' has a problem: ${ABOUT}`)]);
    expect([warnings(result), result.requests]).toEqual([[], []]);
  });

  test("warns once for a replaced resource", async () => {
    const program = (scheme: string) => `${PLUGIN}
new PluginEndpoint("shop", { url: "${scheme}://shop.example.com", trafficPolicy: { nonsense: [] } });`;
    const stack = await start(program("https"));
    await stack.up();
    edit(stack, program("http"));
    expect(warnings(await stack.preview())).toHaveLength(1);
  });
});
