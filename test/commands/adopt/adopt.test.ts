import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adoptCommand } from "../../../sdk/commands/adopt";
import type { Emulator } from "../../../sdk/testing/emulator";
import { emulatedService } from "../../emulatedService";
import { temporaryFolder } from "../../folders";
import { runInProcess } from "../runCommand";
import { oddLines, seedOdd } from "./oddEndpoints";
import { projectWith, stateOf } from "./stubbedProject";

test("fields and endpoints that a program cannot express are reported in the log and in the program", async () => {
  const emulator = await emulatedService();
  seedOdd(emulator);
  const { code, stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain("CANARY");
  expect(stdout + stderr).not.toContain(emulator.apiKey);
  const lines = stderr.split("\n");
  for (const [host, line] of Object.entries(oddLines)) {
    const logged = lines.find((line) => line.includes(`https://${host}.example.com`)) ?? "";
    expect(logged, host).toMatch(line);
  }
  expect(stdout.match(/^\/\/ Left out: /gm)).toHaveLength(10);
  expect(stdout.match(/^\/\/ Left to the service: /gm)).toHaveLength(7);
});

test("a text with the account's key in it is in no output: the endpoint is left out, or the service keeps its policy", async () => {
  const emulator = await emulatedService();
  const traffic_policy = JSON.stringify({ on_http_request: [{ name: `of ${emulator.apiKey}` }] });
  emulator.seed({ type: "cloud", url: "https://a.example.com", traffic_policy });
  emulator.seed({ type: "cloud", url: "https://b.example.com", description: `of ${emulator.apiKey}` });
  const program = await runInProcess(adoptCommand, [], emulator);
  const why = "cannot be in a program: it contains the account's API key, which code would show";
  expect(program.stderr).toContain(`Left to the service: trafficPolicy ${why}, of 'a-example-com'`);
  expect(program.stderr).toMatch(
    /https:\/\/b\.example\.com.*description cannot be in a program: it contains/,
  );
  const imported = await runInProcess(adoptCommand, ["--format", "import"], emulator);
  expect(imported.stderr).toContain("Selected: 0 endpoints");
  for (const { stdout, stderr } of [program, imported])
    expect(stdout + stderr).not.toMatch(new RegExp(`${emulator.apiKey}|\\[key\\]`));
});

test("a policy in YAML with merge keys is written as the merged data", async () => {
  const emulator = await emulatedService();
  const policy = `
common: &deny { type: deny, config: { status_code: 404 } }
on_http_request:
  - actions: [{ <<: *deny, name: first }]
  - actions: [*deny]
`;
  emulator.seed({ type: "cloud", url: "https://a.example.com", traffic_policy: policy });
  const { code, stdout } = await runInProcess(adoptCommand, [], emulator);
  expect(code).toBe(0);
  expect(stdout).not.toContain("<<");
  expect(stdout).toContain('{ actions: [{ type: "deny", config: { status_code: 404 }, name: "first" }] }');
});

test("both formats take a policy in YAML, and say that its comments stay behind", async () => {
  const emulator = await emulatedService();
  const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com", traffic_policy: "a: 1 # b" });
  for (const format of ["program", "import"]) {
    const { code, stdout, stderr } = await runInProcess(adoptCommand, ["--format", format], emulator);
    expect(code).toBe(0);
    expect(stdout).toContain(id);
    expect(stderr).toContain(
      `Left to the service: the layout and the comments of trafficPolicy in YAML, which the first change of the policy drops, of 'a-example-com' (${id}, https://a.example.com)\n`,
    );
  }
});

test("fields that the list may omit are read by id, so that the first up does not clear them", async () => {
  const emulator = await emulatedService();
  const policy = '{"on_http_request":[]}';
  emulator.seed({ type: "cloud", url: "https://a.example.com", description: "a", traffic_policy: policy });
  emulator.seed({ type: "cloud", url: "https://b.example.com", metadata: "kept by hand" });
  const items = emulator.endpoints.map(({ metadata: _onlyById, ...item }) => item);
  const body = { endpoints: items, next_page_uri: null };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  const { stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  expect(stderr).toContain("Reading 2 endpoints by id, because lists may leave out metadata");
  expect(stdout).toContain('metadata: "kept by hand"');
  expect(emulator.requests).toHaveLength(3);
});

test("the documentation shows an endpoint, and the secret to set, as a real run prints them", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/adoption.md"), "utf8");
  const emulator = await emulatedService();
  const verify = { type: "verify-webhook", config: { provider: "brex", secret: "whsec_CANARY" } };
  emulator.seed({
    type: "cloud",
    id: "ep_2abc",
    url: "https://hooks.example.com",
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [verify] }] }),
  });
  const { stdout, stderr } = await runInProcess(adoptCommand, [], emulator);
  const [shown = ""] = /new CloudEndpoint.*/s.exec(stdout) ?? [];
  expect(page).toContain(`\`\`\`ts\n${shown}\`\`\`\n`);
  const [line = ""] = /pulumi config set --secret \w+/.exec(stderr) ?? [];
  expect(page).toContain(`\`${line}\``);
});

test("bindings are left out only if they are public or none, so that no service makes an endpoint public", async () => {
  const emulator = await emulatedService();
  const seed = (host: string, bindings: string[]) =>
    emulator.seed({ type: "cloud", url: `https://${host}`, bindings });
  seed("a.internal", ["internal"]);
  seed("b.internal", ["public"]);
  seed("c.example.com", ["public"]);
  seed("d.example.com", ["kubernetes"]);
  seed("e.example.com", []);
  const { stdout } = await runInProcess(adoptCommand, [], emulator);
  const written = [...stdout.matchAll(/^new CloudEndpoint\("([^"]+)", \{([^;]*)\}, keep\);/gm)].map(
    ([, name, args = ""]) => [name, /bindings: (.*),/.exec(args)?.[1]],
  );
  expect(written).toEqual([
    ["a-internal", '["internal"]'],
    ["b-internal", '["public"]'],
    ["c-example-com", undefined],
    ["d-example-com", '["kubernetes"]'],
    ["e-example-com", undefined],
  ]);
});

describe("with secrets for a stack's configuration", () => {
  /** An account with one secret, and a project whose Pulumi CLI logs the secrets that it sets. */
  async function stackWithSecret(exit = 0) {
    const emulator = await emulatedService();
    const secret = { on_http_request: [{ actions: [{ type: "x", config: { secret: "whsec_CANARY" } }] }] };
    emulator.seed({
      type: "cloud",
      url: "https://a.example.com",
      traffic_policy: JSON.stringify(secret),
    });
    const log = join(temporaryFolder(), "set");
    const refusal = exit === 0 ? "" : "echo 'error: the disk of the backend is full' >&2; ";
    const first = `case "$*" in "config set"*) cat > /dev/null; echo "$4" >> '${log}'; ${refusal}exit ${exit} ;; esac`;
    const folder = projectWith({ "organization/web/dev": stateOf() }, emulator, { first });
    const adopt = (...args: string[]) =>
      runInProcess(adoptCommand, ["--cwd", folder, "--stack", "dev", ...args]);
    const set = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
    return { folder, adopt, set };
  }

  test("the file is written before the secrets are set", async () => {
    const { adopt, folder, set } = await stackWithSecret();
    const file = join(folder, "endpoints.ts");
    const { code, stderr } = await adopt("--out", file);
    expect([code, set()]).toEqual([0, ["aExampleComSecret"]]);
    expect(stderr).toMatch(/written to .*endpoints\.ts\nSet: 1 secret of the stack dev: aExampleComSecret\n/);
    expect(readFileSync(file, "utf8")).toContain("aExampleComSecret");
  });

  test("no secret is set if the file cannot be written, and the message says why", async () => {
    const { adopt, folder, set } = await stackWithSecret();
    const link = join(folder, "link.ts");
    symlinkSync(join(folder, "nowhere/endpoints.ts"), link);
    const full = await adopt("--out", "/dev/full", "--force");
    const there = await adopt("--out", link);
    const dangling = await adopt("--out", link, "--force");
    expect([full.code, there.code, dangling.code, set()]).toEqual([1, 2, 1, []]);
    expect(full.stderr).toMatch(/: \/dev\/full cannot be written: the disk is full\n$/);
    expect(there.stderr).toMatch(/: \S+link\.ts exists; give --force to overwrite it/);
    expect(dangling.stderr).toMatch(
      /: \S+link\.ts cannot be written: its folder does not exist, or that of /,
    );
    for (const { stderr } of [full, dangling]) expect(stderr).not.toMatch(/Selected|Set|Next|Error/);
  });

  test("a failure to set them says that the file exists, and that the same command sets the secrets", async () => {
    const { adopt, folder, set } = await stackWithSecret(1);
    const file = join(folder, "endpoints.ts");
    const { code, stderr } = await adopt("--out", file);
    expect([code, set()]).toEqual([1, ["aExampleComSecret"]]);
    expect(stderr).toMatch(
      /written to .*\nNot set: 1 secret of the stack dev: aExampleComSecret\. The program is written: run the command again, with --force, which sets it\npulumi-endpoints adopt: the disk of the backend is full\n$/,
    );
    expect(existsSync(file)).toBe(true);
  });
});

describe("--format import", () => {
  const run = (emulator: Emulator, ...args: string[]) =>
    runInProcess(adoptCommand, ["--format", "import", ...args], emulator);

  test("lists type, name and id", async () => {
    const emulator = await emulatedService();
    const { id } = emulator.seed({ type: "cloud", url: "https://theirs.example.com" });
    const { stdout, stderr } = await run(emulator);
    expect(JSON.parse(stdout)).toEqual({
      resources: [{ type: "endpoints:index:CloudEndpoint", name: "theirs-example-com", id }],
    });
    expect(stderr).toContain("Next: pulumi import --file FILE\n");
    expect(stderr).toContain(
      "add the option deleteBeforeReplace to the code that it prints (docs/plugin.md)",
    );
  });

  test("leaves out endpoints that a program would change or could not express, also if the list omits policies", async () => {
    const emulator = await emulatedService();
    const seed = (host: string, traffic_policy: string) =>
      emulator.seed({ type: "cloud", url: `https://${host}.example.com`, traffic_policy }).id;
    const fine = seed("fine", '{"x":{"api_key":"of-somebody"}}');
    seed("big", '{"on_http_request":[{"actions":[{"type":"deny","config":{"n":9007199254740993}}]}]}');
    const endpoints = emulator.endpoints.map(({ traffic_policy: _, ...item }) => item);
    const body = { endpoints, next_page_uri: null };
    emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
    const { code, stdout, stderr } = await run(emulator);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).resources).toMatchObject([{ id: fine }]);
    expect(stderr).toMatch(
      /Left out: ep_\w+ \(https:\/\/big\.example\.com\): trafficPolicy contains a number with more than 15 digits.* With --format program, a program can leave that to the service\n/,
    );
    expect(stderr).toContain("1 endpoint with secrets, which the code that pulumi import prints shows");
    expect(stderr).not.toContain("of-somebody");
  });
});
