import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Emulator, TestStack } from "../../sdk/testing";
import { temporaryFolder } from "../folders";
import { newProject, writeProgram } from "../projects";

const program = join(import.meta.dirname, "../../examples/quickstart");

test("a stack continues with the state file of an earlier stack, and the end of that stack leaves a given emulator running", async () => {
  await using emulator = await Emulator.start();
  const options = { program, emulator, stateFile: join(temporaryFolder(), "state.json") };
  const first = await TestStack.create(options);
  const state = await first.exportState();
  const urn = "urn:pulumi:test::case::random:index:Thing::a";
  state.deployment.resources = [{ urn, type: "random:index:Thing", custom: true }];
  await first.importState(state);
  await first.close();

  await using second = await TestStack.create(options);
  expect((await second.exportState()).deployment.resources).toMatchObject([{ urn }]);
  expect((await fetch(emulator.baseUrl)).status).toBe(401);
});

test("`await using` closes the stack and its servers at the end of the block", async () => {
  const open = async () => {
    await using stack = await TestStack.create({ program });
    return { stack, urls: [stack.emulator.baseUrl, `http://127.0.0.1:${await stack.emulator.serve()}`] };
  };
  const { stack, urls } = await open();
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  await expect(stack.preview()).rejects.toThrow(/this stack is closed/);
});

test("`refresh: always` in Pulumi.yaml refreshes before each preview, update and destruction", async () => {
  const folder = newProject("refreshing", "options: { refresh: always }\n");
  writeProgram(folder, 'new CloudEndpoint("shop", { url: "https://shop.example.com", description: "a" });');
  await using stack = await TestStack.create({ program: folder });
  await stack.up({ skipPreview: true });
  const [live] = stack.emulator.endpoints;
  stack.emulator.edit(live?.id ?? "", { description: "by hand" });
  await expect(stack.preview({ expectNoChanges: true })).rejects.toThrow("no changes were expected");
  const { steps } = await stack.up();
  expect(steps.map(({ op }) => op)).toEqual(["refresh", "update"]);
  expect(stack.emulator.endpoints).toMatchObject([{ description: "a" }]);
  const { requests } = await stack.destroy();
  expect(requests.map(({ method }) => method)).toEqual(["GET", "DELETE"]);
});

test("no setting of the shell reaches the program, and those of its own `env` do", async () => {
  for (const [name, value] of [
    ["PROVIDER", "plugin"],
    ["VERSION_HEADER", "X"],
    ["POLICY_WARNINGS", "error"],
  ])
    vi.stubEnv(`ENDPOINTS_${name}`, value);
  const folder = newProject("settings");
  const find = "Object.entries(process.env).filter(([name]) => /^ENDPOINTS_/.test(name))";
  writeFileSync(join(folder, "index.js"), `exports.found = ${find};`);
  for (const env of [{}, { ENDPOINTS_PROVIDER: "dynamic", ENDPOINTS_LOG: "x" }]) {
    await using stack = await TestStack.create({ program: folder, env });
    expect((await stack.preview()).outputs).toEqual({ found: Object.entries(env) });
  }
  vi.unstubAllEnvs();
});

test("the mocks of `others` do not answer for the package under test, and a failed start leaves no emulator", async () => {
  const folder = newProject("unplugged", "");
  writeFileSync(
    join(folder, "index.js"),
    'new (require("@pulumi/pulumi").CustomResource)("endpoints:index:CloudEndpoint", "a");',
  );
  await using stack = await TestStack.create({ program: folder, others: {} });
  await expect(stack.preview()).rejects.toThrow(
    /no plugin for the package endpoints: .* download them: use the driver/,
  );
  await expect(TestStack.create({ program: "/nowhere" })).rejects.toThrow(/no program folder \/nowhere/);
});
