import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Emulator, findPulumiCli, TestStack, type TestStackOptions } from "../../sdk/testing";
import { temporaryFolder } from "../folders";

const program = join(import.meta.dirname, "../../examples/quickstart");

test("a stack continues with the state file of an earlier one, whose end leaves a given emulator running", async () => {
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

test("await using closes what it declares at the end of the block", async () => {
  const open = async () => {
    await using stack = await TestStack.create({ program });
    return { stack, urls: [stack.emulator.baseUrl, `http://127.0.0.1:${await stack.emulator.serve()}`] };
  };
  const { stack, urls } = await open();
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  await expect(stack.preview()).rejects.toThrow(/this stack is closed/);
});

test("a run refuses an option of another command, which it would ignore", async () => {
  await using stack = await TestStack.create({ program });
  const untyped: object = { previewOnly: true };
  for (const command of ["preview", "up", "destroy"] as const)
    await expect(stack[command](untyped)).rejects.toThrow(`${command} does not take the option previewOnly`);
  expect(stack.emulator.requests).toEqual([]);
});

test.each<[options: Partial<TestStackOptions>, words: RegExp]>([
  [{ program: "/nowhere" }, /no program folder \/nowhere/],
  [{ driver: "cli", stateFile: "x" }, /exportState/],
  [{ driver: "cli", others: {} }, /others is only/],
  [{ driver: "cli", env: { PATH: "/nowhere" } }, /no Pulumi CLI.*on the PATH/],
])("create throws an error with the reason if the stack cannot start: %j", async (options, words) => {
  await expect(TestStack.create({ program, ...options })).rejects.toThrow(words);
});

test.skipIf(!(await findPulumiCli()))(
  "the CLI driver refuses to overwrite a program's stack settings",
  async () => {
    const folder = temporaryFolder();
    const settings = join(folder, "Pulumi.test.yaml");
    writeFileSync(settings, "config: {}\n");
    await expect(TestStack.create({ program: folder, driver: "cli" })).rejects.toThrow(
      /Pulumi\.test\.yaml already exists; choose another stackName/,
    );
    expect(readFileSync(settings, "utf8")).toBe("config: {}\n");
  },
);
