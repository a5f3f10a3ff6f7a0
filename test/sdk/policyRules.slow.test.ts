import * as newest from "typescript";
import * as oldest from "typescript-5.4";
import { describe, expect, test } from "vitest";
import { Binding } from "../../sdk";
import { actions, phases } from "../../sdk/traffic-policy/policy/index";
import { Editor } from "./editor";

const IMPORTS = `import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, mergeTrafficPolicy, rules, unlistedAction, type ActionConfig, type TrafficPolicy } from "pulumi-endpoints";
declare const secret: pulumi.Output<string>;
`;
const inResource = (policy: string) =>
  `${IMPORTS}new CloudEndpoint("a", { url: "https://a.example.com", trafficPolicy: ${policy} });`;
const asPolicy = (policy: string) => `${IMPORTS}export const policy = ${policy} satisfies TrafficPolicy;`;

/** The members of outputs and promises, which an editor offers too, since every input accepts them. */
const MEMBERS_OF_OUTPUTS = new Set(["apply", "get", "then", "catch", "finally"]);

/** A policy with this action for requests. */
const action = (text: string) => `{ on_http_request: [{ actions: [${text}] }] }`;
const config = (type: string, keys: string) => action(`{ type: "${type}", config: { ${keys} } }`);

const ofConnections = Object.entries(actions).filter(([, { phases }]) =>
  phases.some((phase) => phase === "on_tcp_connect"),
);

describe.each([
  ["6", newest],
  ["5.4", oldest as unknown as typeof newest],
])("an editor with TypeScript %s", { timeout: 120_000 }, (version, ts) => {
  const editor = new Editor(ts);

  test("runs that version", () => expect(ts.version.startsWith(version)).toBe(true));

  // biome-ignore format: one line for each place
  test.each<[string, string, string[]]>([
    ["the phases", "{ | }", Object.keys(phases)],
    ["the actions of connections", '{ on_tcp_connect: [{ actions: [{ type: "|" }] }] }', ofConnections.map(([type]) => type)],
    ["the keys of a config that are left", config("redirect", 'to: "", |'), ["from", "status_code", "headers"]],
    ["the keys deep in a config", config("jwt-validation", "http: { tokens: [{ | }] }"), ["type", "method", "name", "prefix"]],
    ["the known values", config("http-request", 'url: "", method: "|"'), ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"]],
  ])("offers %s, in a resource and in a separate policy", (_, policy, names) => {
    for (const program of [inResource, asPolicy]) {
      const offered = editor.completions(program(policy)).filter((name) => !MEMBERS_OF_OUTPUTS.has(name));
      expect(offered.sort()).toEqual([...names].sort());
    }
  });

  test("offers the known bindings, and accepts another one", () => {
    const inList = (name: string) => `${IMPORTS}new CloudEndpoint("a", { url: "", bindings: [${name}] });`;
    expect(editor.completions(inList('"|"'))).toEqual(Object.values(Binding));
    expect(editor.errors(`${inList('"elsewhere"')}\n${inList("secret").replace(IMPORTS, "")}`)).toEqual([]);
  });

  test("shows the example of the resource to who hovers over its class, there and where it is constructed", () => {
    const example = 'new CloudEndpoint("shop", {\n';
    expect(editor.hover(`${IMPORTS}new Cloud|Endpoint("a", { url: "" });`)).toContain(example);
    expect(editor.hover(`${IMPORTS}export const type = Cloud|Endpoint;`)).toContain(example);
  });

  test("shows the comment of a key to who hovers over it in a policy", () => {
    const policy = config("redirect", 'to: "", status_|code: 301');
    expect(editor.hover(asPolicy(policy))).toBe("A status from 300 to 399.");
  });

  // biome-ignore format: one line for each mistake
  test.each<[string, string, RegExp]>([
    ["an action", action('{ type: "custom-respons" }'), /^Type '"custom-respons"' is not assignable .*Did you mean '"custom-response"'\?$/],
    ["an action with a config", config("custom-respons", "status_code: 503"), /^Type '"custom-respons"' is not assignable .*Did you mean '"custom-response"'\?$/],
    ["an action with an empty config", config("denny", ""), /^Type '"denny"' is not assignable .*Did you mean '"deny"'\?$/],
    ["an action without a type", action("{ config: {} }"), /\n.*Property 'type' is missing/],
    ["an action of another phase", '{ on_http_response: [{ actions: [{ type: "deny" }] }] }', /^Type '"deny"' is not assignable to type '"add-headers" \| /],
    ["a key", config("deny", "stauts_code: 1"), /'stauts_code' does not exist in type 'ActionConfig<"deny", Inputs>'\. Did you mean to write 'status_code'\?$/],
    ["a value", config("deny", 'status_code: "404"'), /^Type 'string' is not assignable to type 'Input<number> \| undefined'\.$/],
    ["a config without a required key", action('{ type: "forward-internal", config: {} }'), /Property 'url' is missing/],
    ["an action in the place of a rule", '{ on_http_request: [{ type: "deny" }] }', /'type' does not exist in type 'PolicyRule<"on_http_request", Inputs>'/],
  ])("refuses %s with a single message of at most two lines", (_, policy, message) => {
    const errors = editor.errors(asPolicy(policy));
    expect(errors).toEqual([expect.stringMatching(message)]);
    expect(errors[0]?.split("\n").length).toBeLessThanOrEqual(2);
  });

  // biome-ignore format: one line for each policy
  test.each<[string, string]>([
    ["outputs as values", config("basic-auth", 'credentials: [pulumi.concat("a:", secret)], realm: secret')],
    ["values that the types do not list", config("http-request", 'url: secret, method: "PURGE"')],
    ["an unlisted action", action('unlistedAction("new", { a: 1 }), { type: "deny" }')],
    ["the helpers' rules", '{ on_http_request: [rules.verify("github", secret), rules.deny({ status_code: 404 }, { expressions: ["a"] }), rules.answer({ body: secret }), rules.forwardTo(secret)] }'],
    ["a config of the type ActionConfig", `{ on_http_request: [{ actions: [{ type: "deny", config: {} as ActionConfig<"deny"> }] }] }`],
  ])("accepts %s", (_, policy) => {
    expect(editor.errors(`${asPolicy(policy)}\nnew CloudEndpoint("a", { url: "", trafficPolicy: policy });`)).toEqual([]);
  });
});
