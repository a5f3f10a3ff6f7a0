import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../package.json";
import { packageFolder, unpacked } from "./packed";

/* Tests the packed package in an empty folder, as a new user has it: with its own dependencies, and without Pulumi. */

const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

let folder = "";
beforeAll(() => {
  folder = unpacked();
  for (const name of [...Object.keys(manifest.dependencies), "vitest", "@types/node"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(packageFolder, "../../node_modules", name), link);
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => {
  const main = join(folder, "node_modules/traffic-policy", manifest.bin["traffic-policy"]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return `${status} ${stdout}${stderr}`;
};

test("check finds the mistakes of a policy in a file of its own, in a Terraform plan and in a manifest", () => {
  const policy = { on_http_request: [{ expressions: ["req.path == '/'"], actions: [{ type: "dney" }] }] };
  const values = { url: "https://shop.example.com", traffic_policy: JSON.stringify(policy) };
  const resources = [{ type: "ngrok_cloud_endpoint", values }];
  const files = {
    "policy.json": policy,
    "plan.json": { format_version: "1.2", planned_values: { root_module: { resources } } },
    "manifest.json": {
      kind: "NgrokTrafficPolicy",
      apiVersion: "ngrok.k8s.ngrok.com/v1alpha1",
      spec: { policy },
    },
  };
  for (const [file, data] of Object.entries(files)) {
    writeFileSync(join(folder, file), JSON.stringify(data));
    expect(run("check", "--strict", file)).toMatch(
      /^7 .*uses req\.path, which is no variable .*; did you mean req\.url\.path\?\n.*"dney" is no action .*; did you mean deny\?\n.*2 warnings\n$/,
    );
  }
});

test("request shows what a policy does", () => {
  writeFileSync(
    join(folder, "geo.yaml"),
    "on_http_request: [{ expressions: [\"conn.geo.country_code == 'DE'\"], actions: [{ type: deny }] }]",
  );
  expect(run("request", "GET https://a.example.com", "geo.yaml", "--conn", "geo.country_code=DE")).toMatch(
    /^0 .*: matched\n[\s\S]*\nHTTP 403\n/,
  );
});

test("the test of the README passes with vitest, and its programs compile", () => {
  writeFileSync(
    join(folder, "policy.yaml"),
    `on_http_request:
  - expressions: ["req.url.path.startsWith('/hook')"]
    actions: [{ type: verify-webhook, config: { provider: github, secret: a secret } }]
  - expressions: ["req.url.path.startsWith('/admin')"]
    actions: [{ type: restrict-ips, config: { allow: [203.0.113.0/24] } }]
  - actions: [{ type: forward-internal, config: { url: "https://shop.internal" } }]
`,
  );
  expect(programs).toHaveLength(3);
  const files = programs.map((code, index) =>
    join(folder, `readme${index}${code.includes("vitest") ? ".test" : ""}.ts`),
  );
  for (const [index, file] of files.entries()) writeFileSync(file, programs[index] ?? "");
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    typeRoots: [join(folder, "node_modules/@types")],
  };
  const messages = ts
    .getPreEmitDiagnostics(ts.createProgram(files, options))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  expect(messages).toEqual([]);
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const output = execFileSync(process.execPath, [vitest, "run"], { cwd: folder, encoding: "utf8" });
  expect(stripVTControlCharacters(output)).toMatch(/Tests {2}3 passed/);
});

test("an editor completes phases, actions and keys, with their documentation, and the package's names with theirs", () => {
  const completions = (code: string) => {
    const file = join(folder, "editor.ts");
    const text = code.replace("|", "");
    const options = {
      strict: true,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    };
    const service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [file],
      getScriptVersion: () => "1",
      getScriptSnapshot: (name) => {
        const content = name === file ? text : ts.sys.readFile(name);
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (name) => name === file || ts.sys.fileExists(name),
      readFile: ts.sys.readFile,
      directoryExists: ts.sys.directoryExists,
    });
    const at = code.indexOf("|");
    const entries = service.getCompletionsAtPosition(file, at, undefined)?.entries ?? [];
    return Object.fromEntries(
      entries.map(({ name }) => {
        const details = service.getCompletionEntryDetails(
          file,
          at,
          name,
          {},
          undefined,
          undefined,
          undefined,
        );
        return [name, ts.displayPartsToString(details?.documentation)];
      }),
    );
  };
  const policy = (text: string) =>
    `import type { TrafficPolicy } from "traffic-policy";\nexport const policy: TrafficPolicy = ${text};`;
  expect(Object.keys(completions(policy("{ | }")))).toContain("on_http_response");
  const keys = completions(
    policy('{ on_http_request: [{ actions: [{ type: "redirect", config: { | } }] }] }'),
  );
  expect(keys).toMatchObject({ status_code: "A status from 300 to 399." });
  const names = completions('import * as all from "traffic-policy";\nexport const one = all.|;');
  expect(Object.keys(names).sort()).toEqual(
    [
      ...["Account", "ApplicationFailed", "ConnectionClosed", "EndpointReply", "RequestFailed"],
      ...["RequestNotSimulated", "UserError", "mergeTrafficPolicy", "parsePolicy", "rules", "signWebhook"],
      ...["traceText", "unlistedAction", "verifyWebhook", "warningsOf", "webhookPlatforms"],
    ].sort(),
  );
  const errors = /^(ApplicationFailed|ConnectionClosed|Request\w+|UserError)$/;
  for (const [name, documentation] of Object.entries(names))
    expect(documentation, name).toMatch(errors.test(name) ? /\w/ : /```ts/);
});

test("the import loads no library; the first expression and the first pattern load theirs", () => {
  const script = `const { Account, warningsOf } = require("traffic-policy");
    const loaded = () => [...new Set(Object.keys(require.cache)
      .map((file) => /node_modules[\\\\/]((@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1]).filter(Boolean))];
    const all = [loaded()];
    const policy = (rule) => ({ on_http_request: [{ ...rule, actions: [{ type: "deny" }] }] });
    warningsOf(policy({}));
    all.push(loaded());
    const withPattern = policy({ expressions: ["req.host.matches('a')"] });
    warningsOf(withPattern);
    all.push(loaded().slice(1));
    new Account({ "https://a.example.com": withPattern }).fetch("https://a.example.com").then(() => {
      all.push(loaded().includes("re2js"));
      console.log(JSON.stringify(all));
    });`;
  writeFileSync(join(folder, "loads.cjs"), script);
  // The path of a dependency is in the repository, because it is a link, but it contains the dependency's name.
  const output = execFileSync(process.execPath, [join(folder, "loads.cjs")], { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual([
    ["traffic-policy"],
    ["traffic-policy"],
    ["@marcbachmann/cel-js"],
    true,
  ]);
});

test("names of the package can be imported in an ES module", () => {
  writeFileSync(
    join(folder, "module.mjs"),
    'import { Account, EndpointReply } from "traffic-policy";\nconsole.log(typeof Account, typeof EndpointReply);\n',
  );
  expect(execFileSync(process.execPath, [join(folder, "module.mjs")], { encoding: "utf8" })).toBe(
    "function function\n",
  );
});

test("its dependencies are those of the root, in the same versions", () => {
  const root = JSON.parse(readFileSync(join(packageFolder, "../../package.json"), "utf8"));
  expect(root.dependencies).toMatchObject(manifest.dependencies);
  expect(root.devDependencies).toMatchObject(manifest.devDependencies);
});
