import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../../../../../sdk/testing";
import { GITHUB, policyOf, verifying } from "./application";

/** In every input below, and in no message. */
const CANARY = "CANARY-71aa";

/** What the agent says when it is started with this. */
async function told(options: AgentOptions): Promise<string> {
  const started = Agent.start({ upstream: 1, ...options });
  const message = await started.then(
    () => "it started",
    (error: Error) => error.message,
  );
  if (message === "it started") await (await started).close();
  return message;
}

const version3 = (policy: unknown) =>
  `version: 3\nagent: {authtoken: ${CANARY}}\nendpoints:\n  - {name: one, upstream: {url: 80}, traffic_policy: ${JSON.stringify(policy)}}\n`;
const version2 = (more: string) =>
  `version: 2\nauthtoken: ${CANARY}\ntunnels:\n  hooks: {proto: http, addr: 80, ${more}}\n`;
const rule = (expressions: unknown[], ...actions: object[]) => ({
  on_http_request: [{ expressions, actions: actions.length > 0 ? actions : [verifying()] }],
});
const headers = (all: object) => policyOf({ type: "add-headers", config: { headers: all } });

describe("a policy", () => {
  test.each<[string, object | string, RegExp]>([
    [
      "an action that is not played",
      policyOf({ type: "oauth", config: { client_secret: CANARY } }),
      /at on_http_request.0.actions.0.type/,
    ],
    ["a misspelt key", policyOf(verifying({ secrets: CANARY })), /at on_http_request.0.actions.0.config/],
    ["a value of another type", policyOf(verifying({ enforce: CANARY })), /actions.0.config.enforce/],
    ["another phase", { on_tcp_connect: [CANARY] }, /Unrecognized key.*on_tcp_connect/],
    ["an expression that is none", rule(["true", `'${CANARY}' ==`]), /0.expressions.1 what is not valid CEL/],
    [
      "an unknown function",
      rule([`'${CANARY}'.isJson()`]),
      /does not evaluate the function isJson with 0 arguments: at on_http_request.0.expressions.0/,
    ],
    [
      "a platform whose scheme is not known",
      policyOf(verifying({ provider: CANARY })),
      /the policy's provider signs; it knows autodesk/,
    ],
    [
      "a platform of the catalogue whose scheme is not known",
      policyOf(verifying({ provider: "dropbox", secret: CANARY })),
      /does not know how Dropbox signs/,
    ],
    [
      "no secret",
      policyOf({ type: "verify-webhook", config: { provider: "github" } }, { type: "log", config: CANARY }),
      /github needs a secret/,
    ],
    [
      "an expression in a header",
      headers({ "x-a": `${CANARY} \${req.method}` }),
      /does not evaluate what is in \$\{ \}: at on_http_request.0.actions.0.config.headers.x-a/,
    ],
    [
      "a secret that is more than a reference",
      policyOf(verifying({ secret: `${CANARY}\${x}` })),
      /at .*config.secret$/,
    ],
    [
      "an expression in a body",
      policyOf({ type: "custom-response", config: { body: `${CANARY}\${x}` } }),
      /at .*config.body$/,
    ],
    ["a header that is none", headers({ "x a": CANARY }), /must be the name of a header|Invalid key/],
    ["a header that may not be added", headers({ "User-Agent": CANARY }), /may not add user-agent/],
  ])(
    "with %s is refused at the start, without its values, also in a configuration",
    async (_, policy, words) => {
      for (const source of [
        { trafficPolicy: policy },
        { trafficPolicy: JSON.stringify(policy) },
        { config: version3(policy) },
      ]) {
        const message = await told(source);
        expect(message).toMatch(words);
        expect(message).not.toContain(CANARY);
      }
    },
  );

  test("that is no data is refused at the start, without its text", async () => {
    const message = await told({ trafficPolicy: `a: [${CANARY}` });
    expect(message).toMatch(/not valid YAML \(line 1/);
    expect(message).not.toContain(CANARY);
  });
});

describe("a source", () => {
  test.each<[string, AgentOptions, RegExp]>([
    [
      "the module in version 3",
      { config: version3({}).replace("upstream:", `verify_webhook: {secret: ${CANARY}}, upstream:`) },
      /at endpoints.0: Unrecognized key.*verify_webhook/,
    ],
    [
      "a misspelt key",
      { config: version2(`verify_webhook: {platform: github, secret: ${CANARY}}`) },
      /at tunnels.hooks.verify_webhook/,
    ],
    ["no version", { config: `agent: {authtoken: ${CANARY}}` }, /at version/],
    ["broken YAML", { config: version2(`secret: "${CANARY}`) }, /not valid YAML \(line \d+, column \d+\)$/],
    ["YAML with an alias of nothing", { config: version2(`traffic_policy: *${CANARY}`) }, /not valid YAML/],
    [
      "a key twice",
      { config: `version: 2\n${CANARY}: 1\n${CANARY}: 2` },
      /not valid YAML \(line 3, column 1\)$/,
    ],
    ["an option that there is none of", { options: [`--${CANARY}`, "x"] }, /^argument 1 is no option/],
    ["a misspelt option", { options: [`--verify-webhoks=${CANARY}`] }, /^argument 1 is no option/],
    ["an argument too much", { options: [...GITHUB, CANARY] }, /^argument 5 is no option/],
    [
      "an option without a value",
      { options: [...GITHUB.slice(0, 3)] },
      /--verify-webhook-secret has no value/,
    ],
    ["no option", { options: [] }, /name nothing to verify/],
    ["a platform that is none", { options: ["--verify-webhook", CANARY] }, /the policy's provider signs/],
    ["a file that is not there", { options: ["--traffic-policy-file", CANARY] }, /cannot be read: ENOENT/],
    ["two forms", { options: GITHUB, config: version3({}) }, /one of the three/],
    ["none", {}, /one of the three/],
    [
      "an upstream with a path",
      { options: GITHUB, upstream: `http://localhost/${CANARY}` },
      /upstream has a path/,
    ],
    [
      "an upstream of another scheme",
      { options: GITHUB, upstream: `ftp://${CANARY}` },
      /upstream must be a port/,
    ],
  ])("with %s is refused, without its values", async (_, options, words) => {
    const message = await told(options);
    expect(message).toMatch(words);
    expect(message).not.toContain("CANARY");
  });
});
