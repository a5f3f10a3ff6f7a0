import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportSchema } from "../../sdk/commands/drift/report";
import type { Edit, Emulator } from "../../sdk/testing";
import { runCommand } from "../commands/runCommand";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";
import { until } from "../until";

/*
 * What the lines of `drift` do on the real CLI. `test/commands/drift` tests the reports, and `driftRefresh.cli.test.ts` compares them
 * with a refresh.
 */

const policy = (status: number, secret = "") =>
  `{"on_http_request":[{"actions":[{"type":"deny","config":{"status_code":${status},"secret":"${secret}"}}]}]}`;

/** The statement that declares an endpoint of the plugin. */
const endpoint = (name: string) =>
  `new endpoints.CloudEndpoint("${name}", { url: "https://${name}.example.com" });`;

const idOf = ({ endpoints }: Emulator, name: string) =>
  endpoints.find(({ url }) => url === `https://${name}.example.com`)?.id ?? "";

const byHand: Edit = { description: "by hand" };

const PROGRAM = `
new CloudEndpoint("described", { url: "https://described.example.com", description: "front door" });
new CloudEndpoint("secret", { url: "https://secret.example.com", trafficPolicy: pulumi.secret('${policy(404, "CANARY-1")}') });
const deleted = new CloudEndpoint("deleted", { url: "https://deleted.example.com" });
new endpoints.CloudEndpoint("dependent", { url: "https://dependent.example.com", description: deleted.id });
new endpoints.CloudEndpoint("plugged", { url: "https://plugged.example.com", description: "ours" }, { deleteBeforeReplace: true });
`;

describe.skipIf(!cli)("with the Pulumi CLI, the drift command", () => {
  test("finds drift of the stack in --stack, and its line puts everything back, or writes nothing for another program", async () => {
    const emulator = await emulatedService();
    const stack = await new Backend(emulator).project(PROGRAM);
    const run = (...args: string[]) => stack.command("drift", "--stack", "test", ...args);
    await stack.up();
    await stack.pulumi("stack", "init", "selected");
    emulator.edit(idOf(emulator, "described"), byHand);
    emulator.edit(idOf(emulator, "secret"), { traffic_policy: policy(403, "CANARY-2") });
    emulator.edit(idOf(emulator, "plugged"), byHand);
    const before = idOf(emulator, "deleted");
    emulator.remove(before);

    const marked = emulator.requests.length;
    const found = await run("--json", "-");
    expect(found.code, found.stderr).toBe(7);
    const report = reportSchema.parse(JSON.parse(found.stdout));
    const names = report.stacks[0]?.drifted.map(({ name }) => name);
    expect(names).toEqual(["deleted", "described", "plugged", "secret"]);
    const { repair: line = "" } = report.stacks[0] ?? {};
    const text = await run();
    expect(text.stdout).toContain(`\n    ${line}\n`);
    expect(JSON.stringify([found, text])).not.toContain("CANARY");

    for (const [deployed, now] of [
      ['new CloudEndpoint("described"', 'new CloudEndpoint("renamed"'],
      [
        'new CloudEndpoint("described", { url: "https://described.example.com", description: "front door" });',
        "",
      ],
      ['new CloudEndpoint("described"', 'new endpoints.CloudEndpoint("described"'],
    ] as const) {
      stack.edit(PROGRAM.replace(deployed, now));
      await expect(stack.sh(line), now).rejects.toThrow("no changes were expected");
    }
    const writes = () => emulator.requests.slice(marked).filter(({ method }) => method !== "GET");
    expect(writes()).toEqual([]);

    stack.edit(PROGRAM);
    // A project may refresh before each run. The preview of the line does not.
    appendFileSync(join(stack.folder, "Pulumi.yaml"), "options: { refresh: always }\n");
    await stack.sh(line);
    expect(
      writes()
        .map(({ method }) => method)
        .sort(),
    ).toEqual(["PATCH", "PATCH", "PATCH", "PATCH", "POST"]);
    const [dependent] = emulator.endpoints.filter(({ id }) => id === idOf(emulator, "dependent"));
    expect(dependent?.description).toBe(idOf(emulator, "deleted"));
    expect(dependent?.description).not.toBe(before);
    expect(await run()).toMatchObject({ code: 0 });
  });

  test("tells of an endpoint that a copy of the state has, too, and whose destroy would delete it", async () => {
    const emulator = await emulatedService();
    const stack = await new Backend(emulator).project(endpoint("ours"));
    await stack.up();
    await stack.sh(
      "pulumi stack export --file state.json\npulumi stack init copy\npulumi stack import --file state.json --force\npulumi stack select test",
    );
    const shared = await stack.command("drift");
    expect(shared).toMatchObject({
      code: 7,
      stdout: expect.stringContaining("'ours' of the stack shop/copy"),
    });
    expect(shared.stdout).not.toContain("pulumi up");
    const [, urn = ""] = /of the stack shop\/copy \((urn:[^)]+)\)/.exec(shared.stdout) ?? [];
    await stack.sh(`pulumi state delete --force '${urn}' --stack copy`);
    await stack.sh("pulumi destroy --yes --stack copy");
    expect(await stack.command("drift")).toMatchObject({ code: 0 });
    expect(await stack.ids()).toEqual(emulator.endpoints.map(({ id }) => id));
  });

  test("calls nothing unmanaged, and prints no line, while a state file of another stack is truncated", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const theirs = await backend.project(endpoint("theirs"), { name: "web" });
    await theirs.up();
    const stack = await backend.project(endpoint("ours"));
    const file = join(backend.folder, ".pulumi/stacks/web/test.json");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.slice(0, whole.length / 2));
    // Pulumi itself lists no stack then.
    const lost = await stack.command("drift");
    expect([lost.code, lost.stdout]).toEqual([
      1,
      expect.stringMatching(/unread the list of .*unexpected end of JSON/),
    ]);
    const asked = await stack.command("who-has", "https://theirs.example.com");
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining("no state that was read has it")]);
    await stack.up();
    const drift = await stack.command("drift");
    expect([drift.code, drift.stdout]).toEqual([0, expect.stringContaining("1 in no checked stack")]);
    expect([lost, asked, drift].map(({ stdout }) => stdout).join()).not.toMatch(/unmanaged|pulumi up/);
    writeFileSync(file, whole);
    expect((await stack.command("who-has", "https://theirs.example.com")).stdout).toContain(
      "'theirs' of the stack web/test has it",
    );
  });

  test("takes over what a lost state had with one line, and nothing of others", async () => {
    const emulator = await emulatedService();
    const program = `
new CloudEndpoint("one", { url: "https://one.example.com", description: "ours" });
${endpoint("two")}`;
    const stack = await new Backend(emulator).project(program);
    await stack.up();
    const ids = ["one", "two"].map((name) => idOf(emulator, name));
    emulator.seed({ type: "cloud", url: "https://other.example.com" });
    await stack.pulumi("stack", "rm", "--force", "--yes", "--preserve-config", "test");
    await stack.pulumi("stack", "init", "test");
    await stack.pulumi("stack", "init", "sister");
    const { stdout } = await stack.command("drift", "--stack", "test");
    const [line = ""] = /pulumi up --config endpoints:adopt=\S+ --stack test/.exec(stdout) ?? [];
    const marked = emulator.requests.length;
    await stack.sh(line);
    expect(new Set(emulator.requests.slice(marked).map(({ method }) => method))).toEqual(new Set(["GET"]));
    await stack.pulumi("stack", "select", "test");
    expect(await stack.ids()).toEqual(ids.toSorted());
    await stack.sh("pulumi config rm endpoints:adopt");
    await stack.up("--expect-no-changes");
    expect(await stack.command("drift")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 unmanaged"),
    });
  });

  const RETAINED =
    'new CloudEndpoint("kept", { url: "https://kept.example.com" }, { retainOnDelete: true });';
  const MOVED = RETAINED.replace("kept.example", "moved.example");
  const DELETED_WITH = `const first = new CloudEndpoint("first", { url: "https://first.example.com" });
new CloudEndpoint("kept", { url: "https://kept.example.com" }, { deletedWith: first });`;
  test.each([
    ["retainOnDelete", "dynamic", RETAINED, RETAINED],
    ["retainOnDelete, although the program moves on", "plugin", RETAINED, MOVED],
    ["deletedWith", "dynamic", DELETED_WITH, DELETED_WITH],
  ])(
    "names the replacement that a skipped deletion leaves pending, and its line continues with the old endpoint (%s, %s)",
    async (_, provider, deployed, now) => {
      const emulator = await emulatedService();
      const environment = { ENDPOINTS_PROVIDER: provider };
      const stack = await new Backend(emulator).project(deployed, { environment });
      await stack.up();
      const id = idOf(emulator, "kept");
      const [{ urn = "" } = {}] = await stack.endpoints();
      await expect(stack.up("--replace", urn)).rejects.toThrow();
      const marked = emulator.requests.length;
      await stack.pulumi("refresh", "--yes", "--skip-preview");
      expect(emulator.requests.slice(marked).map(({ path }) => path)).not.toContain(`/endpoints/${id}`);
      const { code, stdout } = await stack.command("drift", "--json", "-");
      const [report] = reportSchema.parse(JSON.parse(stdout)).stacks;
      expect(code).toBe(8);
      expect(report?.pendingCreates).toMatchObject([{ name: "kept", replaces: id, left: [id] }]);
      const line = `pulumi up --config endpoints:adopt=${id} --stack test`;
      expect((await stack.command("drift")).stdout).toContain(`\n    ${line}\n`);
      stack.edit(now);
      await stack.sh(line);
      expect(emulator.endpoints.map((one) => one.id)).toContain(id);
      await stack.sh("pulumi config rm endpoints:adopt");
      await stack.up("--expect-no-changes");
      const after = await stack.command("drift", "--json", "-");
      const unmanaged = reportSchema.parse(JSON.parse(after.stdout)).accounts[0]?.unmanaged;
      // With another URL in the program, the run ignores the id. The endpoint stays, as retainOnDelete asks.
      expect([after.code, unmanaged?.map((one) => one.id)]).toEqual([0, now === deployed ? [] : [id]]);
    },
  );

  test("finds a stack in another backend if its own project names that backend, and PULUMI_BACKEND_URL none", async () => {
    const emulator = await emulatedService();
    const [here, there] = [
      await new Backend(emulator).project(endpoint("a"), { name: "shop" }),
      await new Backend(emulator).project(endpoint("b"), { name: "edge" }),
    ];
    for (const { folder, env } of [here, there])
      appendFileSync(join(folder, "Pulumi.yaml"), `backend: { url: "${env["PULUMI_BACKEND_URL"]}" }\n`);
    for (const stack of [here, there]) await stack.up();
    const projects = [here, there].map(({ folder }) => ({ folder: `../${basename(folder)}` }));
    writeFileSync(join(here.folder, "stacks.yaml"), JSON.stringify({ projects }));
    const run = (backend: string | undefined, ...args: string[]) =>
      runCommand(["drift", ...args], { ...here.env, PULUMI_BACKEND_URL: backend }, here.folder);
    const found = await run(undefined, "--projects", "stacks.yaml", "--stack", "shop/test");
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining("1 of other stacks")]);
    expect((await run(`file://${here.folder}`, "--projects", "stacks.yaml")).code).toBe(1);
  });

  test("exits with 0 after a run that was killed between two requests, which only a preview shows", async () => {
    const emulator = await emulatedService();
    const stack = await new Backend(emulator).project(endpoint("a"));
    await stack.up();
    stack.edit(`
const a = ${endpoint("a")}
const wait = () => require("fs").writeFileSync("waits", "") ?? new Promise(() => setInterval(() => {}, 1000));
const late = a.id.apply((id) => pulumi.runtime.isDryRun() ? id : wait());
new CloudEndpoint("b", { url: "https://b.example.com", description: late });
`);
    const up = stack.startUp();
    await until(() => existsSync(join(stack.folder, "waits")));
    await up.killAll();
    expect(await stack.command("drift")).toMatchObject({ code: 0 });
    await expect(stack.up()).rejects.toThrow("currently locked");
    await expect(stack.pulumi("preview", "--expect-no-changes")).rejects.toThrow("no changes were expected");
  });

  test("exits with 8 after a failed up, also if a refresh followed, with 1 if the key is refused, and with 2 if there is no such stack", async () => {
    const emulator = await emulatedService();
    const other = emulator.seed({ type: "cloud", url: "https://late.example.com" });
    const stack = await new Backend(emulator).project(endpoint("late"));
    const run = (...args: string[]) => stack.command("drift", ...args);
    await expect(stack.up()).rejects.toThrow();
    await stack.pulumi("refresh", "--yes");
    expect(await run()).toMatchObject({ code: 8, stdout: expect.stringContaining("its last update failed") });
    emulator.remove(other.id);
    await stack.up();
    expect(await run()).toMatchObject({ code: 0 });

    await stack.setSecret("endpoints:apiKey", "of-nobody");
    const refused = await run();
    expect(refused.code, refused.stdout).toBe(1);
    expect(refused.stdout).toMatch(
      /0 of 1 cloud endpoint compared[\s\S]*endpoints: .*status 401.*The API key was refused/,
    );
    expect(await run("--stack", "nope")).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^pulumi-endpoints drift: no stack named 'nope' found.*\n$/),
    });
  });
});
