import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test, vi } from "vitest";
import { checkPolicyCommand } from "../../sdk/commands/checkPolicy";
import { runInProcess } from "./runCommand";

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-policies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

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
const DNEY =
  'on_http_request[0].actions[0].type "dney" is no action known to this version; did you mean deny?';

describe("check-policy", () => {
  test("prints a line for each warning, with file, line and column", async () => {
    expect(await check(good, bad)).toEqual({
      code: 0,
      stdout: `bad.yaml:3:9: ${DNEY}
bad.yaml:5:19: on_http_request[0].actions[1].config.status is no key of deny known to this version; did you mean status_code?
`,
      stderr: "Checked 2 files: 2 policies, 2 warnings\n",
    });
  });

  test("reads the standard input for -, beside files", async () => {
    const stdin = (...parts: string[]) =>
      vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from(parts) as typeof process.stdin);
    stdin("\ufeffon_http_request:\n  - actions:\n", "      - type: dney\n");
    expect(await check("-", good)).toEqual({
      code: 0,
      stdout: `stdin:3:9: ${DNEY}\n`,
      stderr: "Checked 2 files: 2 policies, 1 warning\n",
    });
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

  test("reads a long file of shorter documents, and refuses JSON of more than 1,000,000 characters", async () => {
    const documents = Array(3)
      .fill(`# ${"c".repeat(40_000)}\non_http_request: []\n`)
      .join("---\n");
    const json = JSON.stringify({ apiVersion: "x".repeat(1_000_001), policy: { on_http_request: [] } });
    const { stderr } = await check(file("long.yaml", documents), file("long.json", json));
    expect(stderr).toMatch(/long\.json is longer than 1000000 characters\nChecked 1 file: 3 policies/);
  });

  test("with --url, also warns about phases that the scheme lacks and about a missing answer", async () => {
    const path = file(
      "limit.yaml",
      "on_http_request:\n- actions: [{ type: log, config: { metadata: {} } }]\n",
    );
    expect((await check(path)).stdout).toBe("");
    expect((await check("--url", "https://a.example.com", path)).stdout).toMatch(
      /^limit\.yaml:1:1: the policy has no action/,
    );
    expect((await check("--url", "tcp://1.tcp.example.com:1", path)).stdout).toMatch(
      /is no phase of tcp endpoints/,
    );
  });

  test("exits with 7 if there are warnings and --strict is given", async () => {
    expect([(await check("--strict", bad)).code, (await check("--strict", good)).code]).toEqual([7, 0]);
  });

  test("prints JSON with --json", async () => {
    const { stdout } = await check("--json", "-", bad, join(folder, "missing.yaml"));
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          file: "bad.yaml",
          policies: 1,
          warnings: [
            { path: "on_http_request[0].actions[0].type", line: 3, column: 9, message: DNEY },
            expect.objectContaining({ path: "on_http_request[0].actions[1].config.status", line: 5 }),
          ],
        },
      ],
      unread: [{ file: "missing.yaml", error: "missing.yaml does not exist" }],
    });
  });

  test("prints annotations with --github, and escapes their special characters", async () => {
    const path = file("a,b:c%.yaml", '"on_http_request%": []\non_http_request: []\n');
    expect((await check("--github", path)).stdout.split("::")).toEqual([
      "",
      `warning file=${folder.replaceAll(":", "%3A")}/a%2Cb%3Ac%25.yaml,line=1,col=1`.replace(
        `${folder}/`,
        "",
      ),
      "on_http_request%25 is no phase known to this version; did you mean on_http_request?\n",
    ]);
  });

  test("prints an annotation with --github for a file that does not parse", async () => {
    const path = file("broken.yaml", "a: b: c");
    const { stdout, code } = await check("--github", path);
    expect([stdout, code]).toEqual([
      expect.stringMatching(/^::error file=[^:]*broken\.yaml::.* is not valid YAML \(line 1, column 4\)/),
      1,
    ]);
  });

  test.each<[string, string, RegExp]>([
    ["is invalid YAML", "a: b: c", /is not valid YAML \(line 1, column 4\)/],
    ["has a long YAML document", `a: 1\n---\nb: ${"b".repeat(50_000)}`, /is longer than 50000 characters/],
    ["is invalid JSON", '{"a": }', /is not valid JSON \(line 1, column 7\)/],
  ])("fails for a file that %s, and checks the others", async (name, text, message) => {
    const { code, stdout, stderr } = await check(file(`${name}.yaml`, text), bad);
    expect(code).toBe(1);
    expect(stdout).toContain("bad.yaml:3:9:");
    expect(stderr).toMatch(message);
  });

  test.each([
    ["kind: Service\napiVersion: v1\n"],
    ["url: https://a.example.com\ntraffic_policy: 'on_http_request: []'\n"],
    ["policy:\n  constructor: 1\n  toString: 2\n"],
  ])("reports a file without a policy: %j", async (text) => {
    const { code, stderr } = await check(file("none.yaml", text));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^none\.yaml contains no traffic policy\nChecked 1 file: 0 policies, 0 warnings/);
  });

  test("--json replaces its own result, and no policy", async () => {
    const result = join(folder, "result.json");
    for (const _ of [1, 2])
      expect(await check("--json", result, bad)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("dney"),
      });
    expect(JSON.parse(readFileSync(result, "utf8")).files).toHaveLength(1);
    const before = readFileSync(good, "utf8");
    expect(await check("--json", good, bad)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--json would replace good.yaml, which is no result of this command"),
    });
    expect(readFileSync(good, "utf8")).toBe(before);
  });
});

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

describe("check-policy --request", () => {
  const send = (path: string, ...more: string[]) =>
    check("--request", `GET https://shop.example.com${path}`, ...more, gateway);

  test("prints each rule, expression and action, and the reply", async () => {
    expect(await send("/admin", "--header", "X-Role: admin", "--client-ip", "203.0.113.7")).toEqual({
      code: 0,
      stdout: `https://shop.example.com on_http_request[0] administrators: matched
    req.url.path.startsWith('/admin') → true
    getReqHeader('X-Role') == ['admin'] → true
    basic-auth: no credentials: 401
https://shop.example.com on_http_request[1]: not reached
    forward-internal, oauth

HTTP 401
www-authenticate: Basic realm="ngrok"

(only the service knows this text)
`,
      stderr: "",
    });
  });

  test("ends where the policy forwards", async () => {
    expect(await send("/")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /not matched[\s\S]*forward-internal: to https:\/\/shop\.internal\n.*oauth: not reached\n\nforwarded/,
      ),
    });
    expect(JSON.parse((await send("/", "--json", "-")).stdout)).toMatchObject({
      status: 0,
      trace: [{}, { outcome: "matched" }],
    });
  });

  test("shows no credentials", async () => {
    const { stdout } = await send(
      "/admin",
      "--header",
      "X-Role: admin",
      "--header",
      `Authorization: Basic ${btoa("admin:canary-password")}`,
    );
    expect(stdout).toContain("basic-auth: authorized");
    expect(stdout).not.toMatch(/canary|Y2FuYXJ5/);
  });

  test("exits with 1 if only the service knows the result", async () => {
    const limited = file("limited.yaml", "on_http_request: [{ actions: [{ type: oauth }, { type: deny }] }]");
    expect(await check("--request", "https://shop.example.com", limited)).toEqual({
      code: 1,
      stdout:
        "https://shop.example.com on_http_request[0]: matched\n    oauth: not simulated\n    deny: not reached\n",
      stderr: expect.stringMatching(
        /on_http_request\[0\]\.actions\[0\] \(oauth\): oauth is not simulated; only the service/,
      ),
    });
  });

  test.each([
    [
      "on_http_request[0].actions[0].config.status",
      "on_http_request: [{ actions: [{ type: deny, config: { status: 404 } }] }]",
      /^odd\.yaml:1:55: PLACE is no key of deny .*; did you mean status_code\?\n.*check-policy: .*only the service/,
    ],
    [
      "on_http_request[0].actons",
      "on_http_request: [{ actons: [{ type: deny }] }]",
      /^odd\.yaml:1:21: PLACE is no key of a rule .*; did you mean actions\?\n[\s\S]*its policy at on_http_request\[0\]/,
    ],
  ])("names a misspelt key as the check does, where no reply is known: %s", async (place, text, message) => {
    const odd = file("odd.yaml", text);
    const { code, stderr } = await check("--request", "https://shop.example.com", odd);
    expect(code).toBe(1);
    expect(stderr.replace(place, "PLACE")).toMatch(message);
  });

  test("refuses a file with two policies", async () => {
    const { code, stderr } = await check("--request", "GET https://a.b", gateway, good);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/one policy, and there are 2/)]);
  });
});
