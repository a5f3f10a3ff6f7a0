import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Emulator, findPulumiCli, TestStack } from "../../sdk/testing";
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

test("create throws an error with the reason if the stack cannot start", async () => {
  await expect(TestStack.create({ program: "/nowhere" })).rejects.toThrow(/no program folder \/nowhere/);
  await expect(TestStack.create({ program, driver: "cli", stateFile: "x" })).rejects.toThrow(/exportState/);
  await expect(TestStack.create({ program, driver: "cli", others: {} })).rejects.toThrow(/others is only/);
  const env = { PATH: "/nowhere" };
  await expect(TestStack.create({ program, driver: "cli", env })).rejects.toThrow(
    /no Pulumi CLI.*on the PATH/,
  );
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
