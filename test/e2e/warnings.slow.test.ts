import { expect, test } from "vitest";
import type { RunResult } from "../../sdk/testing";
import { onBothDrivers, PLUGIN } from "./setup";

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
const generated =
  PLUGIN +
  endpoint("other", TYPO, "", "PluginEndpoint") +
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
      const stack = await start(program + (isPlugin ? generated : ""), {
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
});
