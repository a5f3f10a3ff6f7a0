import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { policyFromText } from "../../provider/data/index";
import { checkPolicyCommand } from "../../sdk/commands/checkPolicy";
import { temporaryFolder } from "../folders";
import { runInProcess } from "./runCommand";

const FILES = {
  "good.yaml": "on_http_request:\n  - actions:\n      - type: deny\n",
  "bad.yaml":
    "on_http_request:\n  - actions:\n      - type: dney\n      - type: deny\n        config: { status: 404 }\n",
  "limit.yaml": "on_http_request: [{ actions: [{ type: log, config: { metadata: {} } }] }]\n",
  "broken.yaml": "a: b: c",
  "a,b:c%.yaml": '"on_http_request%": []\non_http_request: []\n',
  "long.yaml": `a: 1\n---\nb: ${"b".repeat(50_000)}`,
  "gateway.yaml": `on_http_request:
  - name: administrators
    expressions: ["req.url.path.startsWith('/admin')", "getReqHeader('X-Role') == ['admin']"]
    actions:
      - { type: basic-auth, config: { credentials: ["admin:canary-password"] } }
  - actions:
      - { type: forward-internal, config: { url: https://shop.internal } }
      - { type: oauth }
`,
  "oauth.yaml": "on_http_request: [{ actions: [{ type: oauth }, { type: deny }] }]",
  "geo.yaml":
    'on_http_request: [{ expressions: ["conn.geo.country_code == \'DE\'", "conn.client_port == 443"], actions: [{ type: deny }] }]',
  "phase.yaml": "requests:\n  - actions: [{ type: deny }]\n",
  // Files without a policy.
  "package.json":
    '{ "name": "shop", "private": true, "dependencies": { "pulumi-endpoints": "^0.1.0" }, "files": [{}] }',
  "service.yaml": "kind: Service\napiVersion: v1\n",
  "other.yaml": "policy:\n  constructor: 1\n  toString: 2\n",
};

beforeEach(() => {
  const cwd = process.cwd();
  process.chdir(temporaryFolder());
  onTestFinished(() => process.chdir(cwd));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(name, text);
});

const check = (...args: string[]) => runInProcess(checkPolicyCommand, args);

const DNEY =
  'on_http_request[0].actions[0].type "dney" is no action known to this version; did you mean deny?';
const BOTH = `bad.yaml:3:9: ${DNEY}
bad.yaml:5:19: on_http_request[0].actions[1].config.status is no key of deny known to this version; did you mean status_code?
`;
const none = (file: string) => `${file} contains no traffic policy\n`;
/** The last line of the output. */
const checked = (warnings: string) => `Checked 1 file: 1 policy, ${warnings}\n`;

const request = (file: string) => ["--request", "https://shop.example.com", file];
const admin = [
  ...["--request", "GET https://shop.example.com/admin", "gateway.yaml"],
  ...["--header", "X-Role: admin", "--client-ip", "203.0.113.7"],
];
const signedIn = ["--header", `Authorization: Basic ${btoa("admin:canary-password")}`];

test.each<[outcome: string, args: string[], printed: string | RegExp]>([
  ["the exit code 7 for warnings", ["--strict", "bad.yaml"], `7 ${BOTH}${checked("2 warnings")}`],
  ["no answer, for https", ["--url", "https://a.b", "limit.yaml"], /^0 limit\.yaml:1:1: .* has no action/],
  ["nothing without a URL", ["limit.yaml"], `0 ${checked("0 warnings")}`],
  [
    "annotations with escapes",
    ["--github", "a,b:c%.yaml"],
    /^0 ::warning file=a%2Cb%3Ac%25\.yaml,line=1,col=1::on_http_request%25 is no phase known .*\n/,
  ],
  [
    "annotations, also for a file that does not parse",
    ["--github", "broken.yaml", "bad.yaml"],
    /^1 (::warning .*\n){2}::error file=broken\.yaml::.*\n.*: broken\.yaml is not valid YAML .*\nChecked 1 file/,
  ],
  ["the length of a document", ["long.yaml"], /^1 .*long\.yaml is longer than 50000 characters/],
  [
    "files without a policy",
    ["package.json", "service.yaml", "other.yaml"],
    `0 ${["package.json", "service.yaml", "other.yaml"].map(none).join("")}Checked 3 files: 0 policies, 0 warnings\n`,
  ],
  [
    "a phase that resembles none, if it has rules",
    ["--strict", "phase.yaml"],
    /^7 phase\.yaml:1:1: requests is no phase known to this version; the phases are /,
  ],
  [
    "each rule, expression and action, and the reply",
    admin,
    `0 https://shop.example.com on_http_request[0] administrators: matched
    req.url.path.startsWith('/admin') → true
    getReqHeader('X-Role') == ['admin'] → true
    basic-auth: no credentials: 401
https://shop.example.com on_http_request[1]: not reached
    forward-internal, oauth

HTTP 401
www-authenticate: Basic realm="ngrok"

(only the service knows this text)
`,
  ],
  ["no credentials", [...admin, ...signedIn], /^0 (?![\s\S]*(canary|Y2FuYXJ5))[\s\S]*basic-auth: authorized/],
  [
    "where the policy forwards",
    request("gateway.yaml"),
    /^0 .*not matched[\s\S]*internal: to https:\/\/shop\.internal\n.*oauth: not reached\n\nforwarded/,
  ],
  [
    "that only the service knows the reply, and the mistakes that may be why",
    request("oauth.yaml"),
    /^1 .*: matched\n {4}oauth: not simulated\n {4}deny: not reached\noauth\.yaml:1:31: .* is missing; .*\n.* is not simulated; only/,
  ],
  ["that it needs one policy", [...request("oauth.yaml"), "good.yaml"], /^2 .*one policy, and there are 2/],
  [
    "a value below conn, in its documented type",
    [
      "--request",
      "GET https://shop.example.com",
      "geo.yaml",
      "--conn",
      "geo.country_code=DE",
      "--conn",
      "conn.client_port=443",
    ],
    /^0 .*matched\n {4}conn\.geo\.country_code == 'DE' → true\n {4}conn\.client_port == 443 → true/,
  ],
  [
    "that a variable below conn does not exist",
    [...request("geo.yaml"), "--conn", "geo.land=DE"],
    /^2 pulumi-endpoints check-policy: --conn takes a documented variable below conn/,
  ],
  [
    "that a variable below conn has another type",
    [...request("geo.yaml"), "--conn", "client_port=https"],
    /^2 .*--conn needs a value for conn\.client_port that is JSON of the type int/,
  ],
  [
    "that the request is missing",
    ["--request", "GET", "geo.yaml"],
    /^2 pulumi-endpoints check-policy: a request has a method and a URL: GET/,
  ],
])("prints %s", async (_, args, printed) => {
  const { code, stdout, stderr } = await check(...args);
  const all = `${code} ${stdout}${stderr}`;
  if (typeof printed === "string") expect(all).toBe(printed);
  else expect(all).toMatch(printed);
});

test.each([
  "on_http_request:\n  - expressions:\n      - ! req.host.startsWith('a')\n    actions: [{ type: deny }]\n",
  "on_http_request: !!set {}",
  "on_http_request: [{ name: !!timestamp 2026-01-01, actions: [] }]",
  "on_http_request: [{ name: .nan, actions: [] }]",
  "on_http_request: [{ name: -.inf, actions: [] }]",
  '[{ "on_http_request": [] }]',
  "- on_http_request: []",
  "on_http_request: []\n---\non_http_response: []\n",
  "",
  "# nothing\n",
  Buffer.from("\ufeffon_http_request: []", "utf16le"),
  Buffer.from('{ "on_http_request": [] }', "utf16le").swap16(),
])("refuses what a preview refuses, for the same reason: %j", async (content) => {
  const parsed = policyFromText(content.toString("utf8"));
  writeFileSync("read.yaml", content);
  expect(await check("read.yaml")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `pulumi-endpoints check-policy: read.yaml ${"problem" in parsed && parsed.problem}\n`,
    ),
  });
});

test.each([
  '\ufeff{ "on_http_request": [] }',
  "\ufeffon_http_request: []",
  "on_http_request: []\n---\n",
  "---\non_http_request: []\n...\n",
])("accepts what a preview accepts: %j", async (content) => {
  expect(policyFromText(content)).toEqual({ data: { on_http_request: [] } });
  writeFileSync("read.yaml", content);
  expect(await check("read.yaml")).toEqual({ code: 0, stdout: "", stderr: checked("0 warnings") });
});

test("reads the standard input for -, beside files", async () => {
  const stdin = Readable.from(["\ufeffon_http_request:\n  - actions:\n", "      - type: dney\n"]);
  vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as typeof process.stdin);
  onTestFinished(() => void vi.restoreAllMocks());
  const stderr = "Checked 2 files: 2 policies, 1 warning\n";
  expect(await check("-", "good.yaml")).toEqual({ code: 0, stdout: `stdin:3:9: ${DNEY}\n`, stderr });
});

test.each<[string, string, string[]]>([
  [
    "JSON after a byte order mark, with only a misspelt phase",
    '\ufeff{"on_http_requst": []}',
    ["1:2: on_http_requst is no phase known to this version; did you mean on_http_request?"],
  ],
  [
    "an agent's configuration",
    `version: 3
endpoints:
  - url: tcp://1.tcp.example.com:12345
    traffic_policy:
      on_http_request: []
  - url: https://app.example.com
    traffic_policy:
      on_http_requst: []
`,
    [
      "5:7: endpoints[0].traffic_policy.on_http_request is no phase of tcp endpoints, only of http and https",
      "8:7: endpoints[1].traffic_policy.on_http_requst is no phase known to this version; did you mean on_http_request?",
    ],
  ],
  [
    "Kubernetes manifests",
    `apiVersion: v1
kind: Service
spec: { ports: [] }
---
kind: NgrokTrafficPolicy
spec:
  policy:
    on_http_request:
      - actions: [{ type: dney }]
---
kind: CloudEndpoint
spec:
  url: https://app.example.com
  trafficPolicy:
    policy:
      on_http_response: []
---
# nothing is left of this one
---
kind: AgentEndpoint
spec:
  url: https://app.internal
  trafficPolicy:
    inline:
      on_tcp_connect: []
`,
    [
      `9:21: spec.policy.${DNEY}`,
      "15:5: spec.trafficPolicy.policy has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end",
      "25:7: spec.trafficPolicy.inline.on_tcp_connect is no phase of internal https endpoints",
    ],
  ],
  [
    "a Pulumi.yaml",
    `name: app
runtime: yaml
resources:
  shop:
    type: endpoints:CloudEndpoint
    properties:
      url: https://\${domain}
      trafficPolicy:
        on_http_request:
          - actions: [{ type: dney }]
          - expressions: [req.path == '/x', "\${shop.name} == 'a'"]
            actions: [{ type: custom-response, config: { body: "$\${req.hots} \${shop.name}", headers: { a: "$\${req.hots}" } } }]
`,
    [
      `10:25: resources.shop.properties.trafficPolicy.${DNEY}`,
      "11:27: resources.shop.properties.trafficPolicy.on_http_request[1].expressions[0] uses req.path, which is no variable known to this version; did you mean req.url.path?",
      "12:111: resources.shop.properties.trafficPolicy.on_http_request[1].actions[0].config.headers.a uses req.hots, which is no variable known to this version; did you mean req.host?",
    ],
  ],
  [
    "what Terraform shows of a state or a plan",
    JSON.stringify(
      {
        format_version: "1.2",
        planned_values: {
          root_module: {
            resources: [
              {
                type: "ngrok_cloud_endpoint",
                values: { url: "https://a.example.com", traffic_policy: '{"on_http_request": []}' },
              },
              { type: "aws_iam_policy", values: { policy: '{"Version": "2012-10-17", "Statement": []}' } },
            ],
          },
        },
        prior_state: {
          values: { root_module: { resources: [{ values: { traffic_policy: "on_http_requst: []" } }] } },
        },
      },
      undefined,
      1,
    ),
    [
      "10:7: planned_values.root_module.resources[0].values.traffic_policy has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end",
    ],
  ],
])("reads %s", async (_, text, lines) => {
  writeFileSync("read.yaml", text);
  const { code, stdout } = await check("read.yaml");
  expect(code).toBe(0);
  expect(stdout).toBe(lines.map((line) => `read.yaml:${line}\n`).join(""));
});

test("prints JSON with --json, of a check or of a request", async () => {
  const { stdout } = await check("--json", "-", "bad.yaml", "missing.yaml");
  const warnings = [
    { path: "on_http_request[0].actions[0].type", line: 3, column: 9, message: DNEY },
    expect.objectContaining({ path: "on_http_request[0].actions[1].config.status", line: 5 }),
  ];
  expect(JSON.parse(stdout)).toEqual({
    files: [{ file: "bad.yaml", policies: 1, warnings }],
    unread: [{ file: "missing.yaml", error: "missing.yaml does not exist" }],
  });
  const tried = JSON.parse((await check(...request("gateway.yaml"), "--json", "-")).stdout);
  expect(tried).toMatchObject({ status: 0, trace: [{}, { outcome: "matched" }] });
});

test("--json replaces its own earlier result, but no policy", async () => {
  for (const _ of [1, 2]) expect((await check("--json", "result.json", "bad.yaml")).stdout).toBe(BOTH);
  expect(JSON.parse(readFileSync("result.json", "utf8")).files).toHaveLength(1);
  const { code, stderr } = await check("--json", "good.yaml", "bad.yaml");
  expect(code).toBe(2);
  expect(stderr).toContain("--json would replace good.yaml, which is no result of this command");
  expect(readFileSync("good.yaml", "utf8")).toBe(FILES["good.yaml"]);
});

const agent = (policy: string) => `version: 3
endpoints:
  - name: good
    url: https://a.example.com
    traffic_policy: { on_http_request: [{ actions: [{ type: deny }] }] }
  - name: other
    url: https://b.example.com
    traffic_policy: ${policy}
`;

const naming = (...files: string[]) =>
  `endpoints:\n${files.map((file) => `  - { url: tcp://1.tcp.example.com:1, traffic_policy_file: ${file} }\n`).join("")}`;

test("the file that an agent's configuration names is read beside it, and each of its mistakes told once", async () => {
  mkdirSync("agent");
  writeFileSync("agent/policy.yml", FILES["bad.yaml"]);
  writeFileSync("agent/ngrok.yml", naming("policy.yml", "../agent/policy.yml"));
  const { code, stdout, stderr } = await check("--strict", "agent/ngrok.yml");
  expect([code, stdout]).toEqual([
    7,
    `agent/policy.yml:1:1: on_http_request is no phase of tcp endpoints, only of http and https\n${BOTH.replaceAll("bad.yaml", "agent/policy.yml")}`,
  ]);
  expect(stderr).toBe("Checked 2 files: 2 policies, 3 warnings\n");
  writeFileSync("ngrok.yml", naming("good.yaml"));
  expect((await check(...request("ngrok.yml"))).stdout).toContain("HTTP 403");
});

test.each([
  ["that does not exist", "none.yml", "none.yml does not exist"],
  ["without a policy", "service.yaml", "service.yaml must be a mapping of phases"],
  ["that names itself", "ngrok.yml", "ngrok.yml must be a mapping of phases"],
])("a file %s in place of a policy's is refused", async (_, named, reason) => {
  writeFileSync("ngrok.yml", naming(named));
  const { code, stderr } = await check("ngrok.yml");
  expect([code, stderr]).toEqual([1, expect.stringContaining(`pulumi-endpoints check-policy: ${reason}`)]);
});

/** A Pulumi.yaml with this policy. */
const program = (policy: string) =>
  `runtime: yaml\nresources: { shop: { type: endpoints:CloudEndpoint, properties: { trafficPolicy: ${policy} } } }\n`;
const variable = (policy: string) =>
  `runtime: yaml\ntrafficPolicy: ${policy}\nvariables: { policy: { on_http_request: [] } }\n`;
const ofAgent = (policy: string) => `kind: AgentEndpoint\nspec: { trafficPolicy: ${policy} }\n`;
const basicAuth = (credential: string) =>
  `on_http_request: [{ actions: [{ type: basic-auth, config: { credentials: ["${credential}"] } }, { type: dney }] }]`;
const TEXT = "|\n    # first\n    on_http_request:\n      # then\n      - actions: [{ type: dney }]\n";
const NOT_READ = "has a policy that was not read; check it as a file of its own";
const OF_PHASES = "that must be a mapping of phases";
const ofAgents = "has a policy at endpoints\\[1\\]\\.traffic_policy that ";
const ofProgram = /has a policy at resources\.shop\.properties\.trafficPolicy\S* that must be/;
const CREDENTIAL = "read\\.yaml:1:75: \\S+\\.config\\.credentials\\[0\\] ";
const plan = (policy: string) =>
  `{ "format_version": "1.0", "values": { "root_module": { "resources": [{ "values": { "traffic_policy": ${JSON.stringify(policy)} } }] } } }`;

// biome-ignore format: one line for each file
test.each<[what: string, text: string, code: number, printed: RegExp | string]>([
  ["a tag in another file", "kind: Service\nmetadata: { name: !x y }\n", 1, /has a YAML tag \(line 2, column \d+\)/],
  ["a tag in a program", "runtime: yaml\nname: ! x\n", 1, /has a YAML tag \(line 2, column \d+\)/],
  ["broken YAML in place of a policy", agent("|\n      a: b: c\n"), 1, new RegExp(`${ofAgents}is not valid YAML \\(line 1`)],
  ["an unquoted ! there", agent("|\n      on_http_request:\n      - expressions: [! x]\n"), 1, new RegExp(`${ofAgents}has a YAML tag`)],
  ["a file's name there", agent("policy.yaml"), 1, new RegExp(`${ofAgents}.*of a file, give what it contains`)],
  ["a list there", agent("[{ actions: [] }]"), 1, new RegExp(`${ofAgents}must be a mapping of phases`)],
  ["a mapping without a phase there", agent("{ rules: [{ actions: [] }] }"), 1, new RegExp(`${ofAgents}must be a mapping of phases`)],
  ["an inner mapping without a phase", agent("{ inline: { rules: [] } }"), 1, /endpoints\[1\]\.traffic_policy\.inline that must be/],
  ["a name alone beside rules", agent("{ name: shop, rules: [] }"), 1, new RegExp(`${ofAgents}must be a mapping of phases`)],
  ["a key twice in a plan", plan('{"a":1,"a":2}'), 1, /has a policy at \S+traffic_policy that has a key twice/],
  ["broken YAML in a manifest", ofAgent("{ inline: 'a: b: c' }"), 1, /has a policy at spec\.trafficPolicy\.inline that is not valid YAML/],
  ["a list in a policy's manifest", "kind: NgrokTrafficPolicy\nspec: { policy: [{ actions: [] }] }\n", 1, `at spec.policy ${OF_PHASES}`],
  ["rules in a manifest of the operator", "apiVersion: ngrok.com/v1\nkind: TrafficPolicy\nspec: { policy: { rules: [] } }\n", 1, `at spec.policy ${OF_PHASES}`],
  ["a function that parses a file", program("{ fn::fromJSON: { fn::readFile: ./policy.json } }"), 1, ofProgram],
  ["a function that reads a file", program("{ fn::readFile: ./policy.yaml }"), 1, ofProgram],
  ["a secret without a phase", program("{ fn::secret: { rules: [] } }"), 1, ofProgram],
  ["a function of an unknown value", program(`{ fn::readFile: "\${pulumi.cwd}/policy.yaml" }`), 1, ofProgram],
  ["a ConfigMap", `kind: ConfigMap\ndata:\n  policy.yaml: ${TEXT}`, 7, `read.yaml:3:3: data["policy.yaml"] ${NOT_READ}\nChecked 1 file: 0 policies, 1 warning\n`],
  ["a configuration of Compose", `configs:\n  policy: { content: '{"on_http_request": [{}]}' }\n`, 7, `read.yaml:2:13: configs.policy.content ${NOT_READ}\n`],
  ["a credential in which a value is missing, and the rest", basicAuth("bob:undefined"), 7, new RegExp(`type "dney" is no action.*\n${CREDENTIAL}has undefined in it`)],
  ["a credential that is filled in later, and the rest", basicAuth("bob:$PASSWORD"), 7, new RegExp(`type "dney" is no action.*\n${CREDENTIAL}is a placeholder`)],
  ["another policy of the operator", "apiVersion: ngrok.k8s.ngrok.com/v1alpha1\nspec: { drain: { policy: Retain } }\n", 0, "no traffic policy"],
  ["the status of a manifest", "apiVersion: ngrok.k8s.ngrok.com/v1alpha1\nstatus: { trafficPolicy: inline }\n", 0, "1 file: 0 policies"],
  ["a policy of another operator", "apiVersion: other.example.com/v1\nspec: { policy: [{ actions: [] }] }\n", 0, "no traffic policy"],
  ["the key of a load balancer", "apiVersion: networking.istio.io/v1\nspec: { trafficPolicy: { loadBalancer: { simple: RANDOM } } }\n", 0, "no traffic policy"],
  ["the key of a kind's schema", "apiVersion: apiextensions.k8s.io/v1\nspec: { properties: { trafficPolicy: { type: object } } }\n", 0, "no traffic policy"],
  ["a wrapped policy", "runtime: yaml\ntrafficPolicy: { fn::toJSON: { on_http_request: [] } }\n", 0, "1 file: 1 policy"],
  ["a policy in a variable", variable(`\${policy}`), 0, "1 file: 1 policy"],
  ["a wrapped variable", variable(`{ fn::toJSON: "\${policy}" }`), 0, "1 file: 1 policy"],
  ["a reference", ofAgent("{ targetRef: { name: shop } }"), 0, "1 file: 0 policies"],
  ["a reference by name", ofAgent("{ name: shop, namespace: apps }"), 0, "1 file: 0 policies"],
  ["an empty inner policy", ofAgent("{ inline: {} }"), 0, "1 file: 0 policies"],
  ["an empty policy", ofAgent("{}"), 0, "1 file: 0 policies"],
  ["an empty policy of an agent", agent("{}"), 0, "1 file: 1 policy"],
  ["an empty text of an agent", agent("''"), 0, "1 file: 1 policy"],
])("refuses (1), warns of (7), or accepts (0) %s", async (_, text, code, printed) => {
  writeFileSync("read.yaml", text);
  const strict = await check("--strict", "read.yaml");
  expect(strict.stdout + strict.stderr).toMatch(printed);
  expect([strict.code, (await check("read.yaml")).code]).toEqual([code, code % 7]);
});
