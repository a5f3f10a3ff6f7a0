import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test, vi } from "vitest";
import { checkPolicyCommand } from "../../sdk/commands/checkPolicy";
import { runInProcess } from "./runCommand";

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-policies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs the command. The names of files in the folder stand for them, in arguments and in the output. */
async function check(...args: string[]) {
  const { code, stdout, stderr } = await runInProcess(checkPolicyCommand, args);
  const clean = (text: string) => text.replaceAll(`${folder}/`, "");
  return { code, stdout: clean(stdout), stderr: clean(stderr) };
}

const good = file("good.yaml", "on_http_request:\n  - actions:\n      - type: deny\n");
const bad = file(
  "bad.yaml",
  "on_http_request:\n  - actions:\n      - type: dney\n      - type: deny\n        config: { status: 404 }\n",
);
const limit = file(
  "limit.yaml",
  "on_http_request: [{ actions: [{ type: log, config: { metadata: {} } }] }]\n",
);
const broken = file("broken.yaml", "a: b: c");
const odd = file("a,b:c%.yaml", '"on_http_request%": []\non_http_request: []\n');
const long = file(
  "long.yaml",
  Array(3)
    .fill(`# ${"c".repeat(40_000)}\non_http_request: []\n`)
    .join("---\n"),
);
const gateway = file(
  "gateway.yaml",
  `on_http_request:
  - name: administrators
    expressions: ["req.url.path.startsWith('/admin')", "getReqHeader('X-Role') == ['admin']"]
    actions:
      - { type: basic-auth, config: { credentials: ["admin:canary-password"] } }
  - actions:
      - { type: forward-internal, config: { url: https://shop.internal } }
      - { type: oauth }
`,
);
const oauth = file("oauth.yaml", "on_http_request: [{ actions: [{ type: oauth }, { type: deny }] }]");
const config = file(
  "config.yaml",
  "on_http_request: [{ actions: [{ type: deny, config: { status: 404 } }] }]",
);
const actons = file("actons.yaml", "on_http_request: [{ actons: [{ type: deny }] }]");
const longYaml = file("long-document.yaml", `a: 1\n---\nb: ${"b".repeat(50_000)}`);
const longJson = file("long.json", JSON.stringify({ apiVersion: "x".repeat(1_000_001), policy: {} }));
const badJson = file("bad.json", '{"a": }');

const DNEY =
  'on_http_request[0].actions[0].type "dney" is no action known to this version; did you mean deny?';
const BOTH = `bad.yaml:3:9: ${DNEY}
bad.yaml:5:19: on_http_request[0].actions[1].config.status is no key of deny known to this version; did you mean status_code?
`;
const ONE = "Checked 1 file: 1 policy, ";

/** What stdout and stderr are, or match. */
type Output = string | RegExp;

const admin = (...more: string[]) => [
  ...["--request", "GET https://shop.example.com/admin", "--header", "X-Role: admin"],
  ...["--client-ip", "203.0.113.7", ...more, gateway],
];
const request = (path: string) => ["--request", "https://shop.example.com", path];

test.each<[outcome: string, args: string[], code: number, stdout: Output, stderr: Output]>([
  ["a line for each warning", [good, bad], 0, BOTH, "Checked 2 files: 2 policies, 2 warnings\n"],
  ["the exit code 7 for warnings", ["--strict", bad], 7, BOTH, `${ONE}2 warnings\n`],
  ["the exit code 0 without", ["--strict", good], 0, "", `${ONE}0 warnings\n`],
  [
    "no answer, for https",
    ["--url", "https://a.b", limit],
    0,
    /^limit\.yaml:1:1: the policy has no action/,
    ONE,
  ],
  [
    "no such phase, for tcp",
    ["--url", "tcp://1.tcp.ngrok.io:1", limit],
    0,
    /is no phase of tcp endpoints/,
    ONE,
  ],
  ["nothing without a URL", [limit], 0, "", ONE],
  [
    "annotations with escapes",
    ["--github", odd],
    0,
    /^::warning file=[^:,]*a%2Cb%3Ac%25\.yaml,line=1,col=1::on_http_request%25 is no phase known .*\n$/,
    ONE,
  ],
  [
    "an annotation for a file that does not parse",
    ["--github", broken],
    1,
    /^::error file=[^:]*broken\.yaml::.* is not valid YAML \(line 1, column 4\)/,
    /check-policy: broken\.yaml is not valid YAML/,
  ],
  [
    "the reason, and the other file",
    [broken, bad],
    1,
    BOTH,
    /broken\.yaml is not valid YAML \(line 1, column 4\)/,
  ],
  ["a long YAML document", [longYaml, bad], 1, BOTH, /is longer than 50000 characters/],
  ["invalid JSON", [badJson, bad], 1, BOTH, /is not valid JSON \(line 1, column 7\)/],
  ["long JSON", [longJson, bad], 1, BOTH, /long\.json is longer than 1000000 characters/],
  ["a long file of short documents", [long], 0, "", "Checked 1 file: 3 policies, 0 warnings\n"],
  [
    "each rule, expression and action, and the reply",
    admin(),
    0,
    `https://shop.example.com on_http_request[0] administrators: matched
    req.url.path.startsWith('/admin') → true
    getReqHeader('X-Role') == ['admin'] → true
    basic-auth: no credentials: 401
https://shop.example.com on_http_request[1]: not reached
    forward-internal, oauth

HTTP 401
www-authenticate: Basic realm="ngrok"

(only the service knows this text)
`,
    "",
  ],
  [
    "no credentials",
    admin("--header", `Authorization: Basic ${btoa("admin:canary-password")}`),
    0,
    /^(?![\s\S]*(canary|Y2FuYXJ5))[\s\S]*basic-auth: authorized/,
    "",
  ],
  [
    "where the policy forwards",
    request(gateway),
    0,
    /not matched[\s\S]*forward-internal: to https:\/\/shop\.internal\n.*oauth: not reached\n\nforwarded/,
    "",
  ],
  [
    "that only the service knows the reply",
    request(oauth),
    1,
    "https://shop.example.com on_http_request[0]: matched\n    oauth: not simulated\n    deny: not reached\n",
    /on_http_request\[0\]\.actions\[0\] \(oauth\): oauth is not simulated; only the service/,
  ],
  [
    "a misspelt key as the check does, where no reply is known",
    request(config),
    1,
    /deny: not simulated/,
    /^config\.yaml:1:55: on_http_request\[0\]\.actions\[0\]\.config\.status is no key of deny .*; did you mean status_code\?\n.*only the service/,
  ],
  [
    "a misspelt key of a rule, too",
    request(actons),
    1,
    "",
    /^actons\.yaml:1:21: on_http_request\[0\]\.actons is no key of a rule .*; did you mean actions\?\n[\s\S]*its policy at on_http_request\[0\]/,
  ],
  ["two policies in place of one", [...request(gateway), good], 2, "", /one policy, and there are 2/],
])("prints %s", async (_, args, code, stdout, stderr) => {
  const ended = await check(...args);
  expect(ended.code).toBe(code);
  for (const [text, output] of [
    [ended.stdout, stdout],
    [ended.stderr, stderr],
  ] as const)
    if (output instanceof RegExp) expect(text).toMatch(output);
    else if (output === ONE) expect(text).toContain(ONE);
    else expect(text).toBe(output);
});

test("reads the standard input for -, beside files", async () => {
  const stdin = (...parts: string[]) =>
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from(parts) as typeof process.stdin);
  stdin("\ufeffon_http_request:\n  - actions:\n", "      - type: dney\n");
  const stderr = "Checked 2 files: 2 policies, 1 warning\n";
  expect(await check("-", good)).toEqual({ code: 0, stdout: `stdin:3:9: ${DNEY}\n`, stderr });
  stdin("[");
  expect((await check("-")).stderr).toMatch(/check-policy: stdin is not valid JSON/);
  vi.restoreAllMocks();
});

test.each<[string, string, string[]]>([
  ["JSON", '{\n  "on_http_request": [\n    {"actions": [{"type": "dney"}]}\n  ]\n}', [`3:19: ${DNEY}`]],
  [
    "JSON after a byte order mark",
    '\ufeff{"on_http_requst": []}',
    ["1:2: on_http_requst is no phase known to this version; did you mean on_http_request?"],
  ],
  [
    "a policy without a known phase",
    "on_http_requst: []\n",
    ["1:1: on_http_requst is no phase known to this version; did you mean on_http_request?"],
  ],
  [
    "an agent's configuration",
    `version: 3
agent: {}
endpoints:
  - name: app
    url: tcp://1.tcp.example.com:12345
    upstream: { url: 8080 }
    traffic_policy:
      on_http_request: []
  - name: other
    url: https://app.example.com
    traffic_policy:
      on_http_requst: []
`,
    [
      "8:7: endpoints[0].traffic_policy.on_http_request is no phase of tcp endpoints, only of http and https",
      "12:7: endpoints[1].traffic_policy.on_http_requst is no phase known to this version; did you mean on_http_request?",
    ],
  ],
  [
    "Kubernetes manifests, with and without a policy",
    `apiVersion: v1
kind: Service
spec: { ports: [] }
---
apiVersion: ngrok.k8s.ngrok.com/v1alpha1
kind: NgrokTrafficPolicy
spec:
  policy:
    on_http_request:
      - actions: [{ type: dney }]
---
apiVersion: ngrok.k8s.ngrok.com/v1alpha1
kind: CloudEndpoint
spec:
  url: https://app.example.com
  trafficPolicy:
    policy:
      on_http_response: []
---
apiVersion: ngrok.k8s.ngrok.com/v1alpha1
kind: AgentEndpoint
spec:
  url: https://app.internal
  upstream: { url: "http://app:80" }
  trafficPolicy:
    inline:
      on_tcp_connect: []
`,
    [
      `10:21: spec.policy.${DNEY}`,
      "17:5: spec.trafficPolicy.policy has no action that answers, such as forward-internal, custom-response or deny; a cloud endpoint needs one at the end",
      "27:7: spec.trafficPolicy.inline.on_tcp_connect is no phase of internal https endpoints",
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
    "an alias",
    "x: &a\n  - type: dney\non_http_request:\n  - actions: *a\n",
    [
      "1:1: x is no phase known to this version; the phases are on_tcp_connect, on_http_request, on_http_response and on_event_stream_message",
      `2:5: ${DNEY}`,
    ],
  ],
])("reads %s", async (name, text, lines) => {
  const path = file(`${name.replaceAll(" ", "-")}.yaml`, text);
  const { code, stdout } = await check(path);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toEqual(
    lines.map((line) => `${path.slice(folder.length + 1)}:${line}`),
  );
});

test.each([
  "kind: Service\napiVersion: v1\n",
  "url: https://a.example.com\ntraffic_policy: 'on_http_request: []'\n",
  "policy:\n  constructor: 1\n  toString: 2\n",
])("reports a file without a policy: %j", async (text) => {
  const { code, stderr } = await check(file("none.yaml", text));
  expect(code).toBe(0);
  expect(stderr).toBe("none.yaml contains no traffic policy\nChecked 1 file: 0 policies, 0 warnings\n");
});

test("prints JSON with --json, of a check or of a request", async () => {
  const { stdout } = await check("--json", "-", bad, join(folder, "missing.yaml"));
  const warnings = [
    { path: "on_http_request[0].actions[0].type", line: 3, column: 9, message: DNEY },
    expect.objectContaining({ path: "on_http_request[0].actions[1].config.status", line: 5 }),
  ];
  expect(JSON.parse(stdout)).toEqual({
    files: [{ file: "bad.yaml", policies: 1, warnings }],
    unread: [{ file: "missing.yaml", error: "missing.yaml does not exist" }],
  });
  const tried = JSON.parse((await check(...request(gateway), "--json", "-")).stdout);
  expect(tried).toMatchObject({ status: 0, trace: [{}, { outcome: "matched" }] });
});

test("--json replaces its own result, and no policy", async () => {
  const result = join(folder, "result.json");
  for (const _ of [1, 2]) expect(await check("--json", result, bad)).toMatchObject({ code: 0, stdout: BOTH });
  expect(JSON.parse(readFileSync(result, "utf8")).files).toHaveLength(1);
  const before = readFileSync(good, "utf8");
  expect(await check("--json", good, bad)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--json would replace good.yaml, which is no result of this command"),
  });
  expect(readFileSync(good, "utf8")).toBe(before);
});
