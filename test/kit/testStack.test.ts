import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli, RunFailed, TestStack } from "../../sdk/testing";
import { temporaryFolder } from "../folders";

const program = join(import.meta.dirname, "../../examples/quickstart");

test("a stack continues with the state file and the emulator of an earlier one, and a failed run throws its result", async () => {
  const emulator = await Emulator.start();
  onTestFinished(() => emulator.close());
  const options = { program, emulator, stateFile: join(temporaryFolder(), "state.json") };
  const first = await TestStack.create(options);
  await first.up({ skipPreview: true });
  await first.close();

  const second = await TestStack.create(options);
  onTestFinished(() => second.close());
  const { requests } = await second.refresh({ expectNoChanges: true });
  expect(requests).toMatchObject([{ method: "GET", path: "/endpoints", status: 200 }]);
  emulator.intercept("list", { status: 403, body: { error_code: "ERR_NGROK_204", msg: "no" } });
  emulator.intercept("read", { status: 403, body: { error_code: "ERR_NGROK_204", msg: "no" } });
  const error = await second.refresh().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RunFailed);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^refresh failed: .*ERR_NGROK_204/),
    result: { ok: false, requests: [{ status: 403 }, { status: 403 }] },
  });
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
