import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli, RunFailed, TestStack } from "../../sdk/testing";

const program = join(import.meta.dirname, "../../examples/quickstart");

test("a stack continues with the state file and the emulator of an earlier stack", async () => {
  const folder = mkdtempSync(join(tmpdir(), "state-"));
  const emulator = await Emulator.start();
  onTestFinished(async () => {
    await emulator.close();
    rmSync(folder, { recursive: true });
  });
  const options = { program, emulator, stateFile: join(folder, "state.json") };
  const first = await TestStack.create(options);
  await first.up({ skipPreview: true });
  await first.close();

  const second = await TestStack.create(options);
  const { requests } = await second.refresh({ expectNoChanges: true });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /endpoints"]);
  await second.destroy();
  await second.close();
  expect(emulator.endpoints).toEqual([]);
});

test("a run that fails throws an error with the reason and with the result of the run", async () => {
  const stack = await TestStack.create({ program });
  onTestFinished(() => stack.close());
  stack.emulator.seed({ type: "cloud", url: "https://shop.example.com" });
  const error = await stack.up({ skipPreview: true }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RunFailed);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^up failed: .*ERR_NGROK_18017/),
    result: {
      ok: false,
      requests: [
        { method: "POST", status: 400 },
        { method: "GET", status: 200 },
        { method: "GET", status: 200 },
        { method: "GET", status: 200 },
      ],
    },
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
    const folder = mkdtempSync(join(tmpdir(), "mine-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const settings = join(folder, "Pulumi.test.yaml");
    writeFileSync(settings, "config: {}\n");
    await expect(TestStack.create({ program: folder, driver: "cli" })).rejects.toThrow(
      /Pulumi\.test\.yaml already exists; choose another stackName/,
    );
    expect(readFileSync(settings, "utf8")).toBe("config: {}\n");
  },
);
