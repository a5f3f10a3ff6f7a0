import { expect, test } from "vitest";
import type { RunResult } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, PLUGIN } from "./setup";

const warnings = ({ diagnostics }: RunResult) =>
  diagnostics
    .filter(({ severity }) => severity === "warning")
    .map(({ message }) => message.trim())
    .sort();

const TYPO = `{ on_http_request: [{ actions: [{ type: "custom-respons", config: { body: "CANARY" } }] }] }`;
const ABOUT =
  'trafficPolicy.on_http_request[0].actions[0].type "custom-respons" is no action known to this version; did you mean custom-response?';
const DENY = `{ on_http_request: [{ actions: [{ type: "deny" }] }] }`;

const endpoint = (name: string, trafficPolicy: string, more = "", type = "CloudEndpoint") =>
  `const ${name} = new ${type}("${name}", { url: "https://${name}.example.com", trafficPolicy: ${trafficPolicy} }${more});\n`;

/** Policies with mistakes, some of them in secret and unknown parts. */
const program = [
  endpoint("object", TYPO),
  endpoint("output", `pulumi.output(${TYPO})`),
  endpoint("text", `"on_http_request:\\n- actions:\\n  - type: dney\\n"`),
  endpoint(
    "expression",
    `"on_http_request:\\n- expressions: [\\"req.path == '/CANARY'\\"]\\n  actions: [{ type: deny }]\\n"`,
  ),
  endpoint("good", DENY),
  endpoint("secret", `pulumi.secret(${TYPO})`),
  endpoint("unknown", "good.id.apply((id) => ({ nonsense: id }))"),
  endpoint(
    "parts",
    `{ on_http_request: [
      { expressions: [pulumi.secret("req.CANARY == ''")], actions: [pulumi.secret({ type: "CANARY" })] },
      { actions: [{ type: "deny", config: good.id.apply((id) => ({ nonsense: id })) }] },
      { actions: [{ type: "deny", config: { status: 404 } }] } ] }`,
  ),
].join("");

/** Resources of another SDK, which only the plugin can check. */
const generated = (scheme: string) =>
  PLUGIN +
  endpoint("other", TYPO, "", "PluginEndpoint").replace("https", scheme) +
  endpoint("hidden", `pulumi.secret(${TYPO})`, "", "PluginEndpoint") +
  `const off = new Provider("off", { policyWarnings: "off" });\n` +
  endpoint("silent", TYPO, ", { provider: off }", "PluginEndpoint");

const settings = {
  "endpoints:apiKey": "plain-key",
  "endpoints:requestPerWindow": "3",
  "endpoint:versionHeader": "Service-Version",
  // Those of other packages, of the program itself, and one beside the right one.
  "ngrok:apiKey": { secret: "theirs" },
  "vendor:baseUrl": "https://api.example.com",
  "case:baseUrl": "https://api.example.com",
  "endpoint:apiKey": { secret: "old" },
};

onBothDrivers("a preview", (start) => {
  test.each(["dynamic", "plugin"])(
    "warns once of each probable mistake in policies and settings, without values and requests (%s)",
    async (provider) => {
      const isPlugin = provider === "plugin";
      const stack = await start(program + (isPlugin ? generated("https") : ""), {
        config: { ...settings, "endpoints:provider": provider },
      });
      const result = await stack.preview();
      expect(warnings(result)).toEqual([
        expect.stringMatching(
          /^endpoint:versionHeader is no setting; did you mean endpoints:versionHeader\?/,
        ),
        expect.stringMatching(/^endpoints:apiKey is .* in plain text.*config set --secret endpoints:apiKey/),
        expect.stringMatching(/^endpoints:requestPerWindow is no .* mean endpoints:requestsPerWindow\?/),
        "expression: trafficPolicy.on_http_request[0].expressions[0] (line 2, column 18) uses req.path, which is no variable known to this version; did you mean req.url.path?",
        `object: ${ABOUT}`,
        `output: ${ABOUT}`,
        "parts: trafficPolicy.on_http_request[2].actions[0].config.status is no key of deny known to this version; did you mean status_code?",
        'text: trafficPolicy.on_http_request[0].actions[0].type (line 3) "dney" is no action known to this version; did you mean deny?',
        ...(isPlugin ? [ABOUT] : []),
      ]);
      expect(JSON.stringify(result.diagnostics)).not.toMatch(/CANARY|plain-key/);
      expect(result.requests).toEqual([]);
    },
  );

  test("warns once of a resource that is replaced, which the engine checks twice", async () => {
    const stack = await start(generated("https"));
    await stack.up();
    edit(stack, generated("http"));
    expect(warnings(await stack.preview())).toEqual([ABOUT]);
  });

  test.each(["dynamic", "plugin"])(
    "fails if policy warnings are errors, and names each once, without a request (%s)",
    async (provider) => {
      const stack = await start(
        `${endpoint("one", TYPO)}${endpoint("two", TYPO)}
         const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");
         new WebhookVerification("hooks", { platform: "github", secret: "0123456789", expressions: ["req.path == ''"] });
         mergeTrafficPolicy(${TYPO}, new WebhookVerification("right", { platform: "github", secret: "0123456789" }));`,
        { config: { "endpoints:provider": provider, "endpoints:policyWarnings": "error" } },
      );
      const result = await failure(stack.preview());
      const all = errors(result).join("\n");
      expect(all.match(/"custom-respons" is no action/g)).toHaveLength(3);
      expect(all).toMatch(/resource 'one' has a problem: trafficPolicy\.on_http/);
      expect(all).toContain(`two: ${ABOUT}`);
      expect(all).toContain(`mergeTrafficPolicy: ${ABOUT.replace("trafficPolicy", "policy")}`);
      expect(all.match(/hooks: expressions\[0\] .*uses req\.path/g)).toHaveLength(1);
      expect([warnings(result), result.requests]).toEqual([[], []]);
    },
  );
});
