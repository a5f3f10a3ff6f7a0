import { join } from "node:path";
import { expect, test } from "vitest";
import { programFolder } from "../../../test/folders";
import { PulumiStack, type RecordedRequest, type StackOptions } from "../index";
import { expectMixedProgramRuns } from "./mixedProgram";

const THINGS = join(import.meta.dirname, "programs/things");

test("a program with a component, a dynamic provider, a plugin and a stack reference runs, changes and is destroyed", () =>
  expectMixedProgramRuns("kit"));

test("a result has the requests that the emulated service received during its run", async () => {
  const request = (path: string): RecordedRequest => ({
    method: "GET",
    path,
    query: {},
    headers: {},
    status: 200,
  });
  const service = { requests: [request("/before")] };
  await using stack = await PulumiStack.create({ program: programFolder(), service });
  const destroy = stack.destroy();
  service.requests.push(request("/during"));
  expect((await destroy).requests).toEqual([request("/during")]);
});

test("a command refuses an option of another command", async () => {
  await using stack = await PulumiStack.create({ program: THINGS });
  const untyped: object = { previewOnly: true };
  for (const command of ["preview", "up", "destroy"] as const)
    await expect(stack[command](untyped)).rejects.toThrow(`${command} does not take the option previewOnly`);
});

test.each<[options: Partial<StackOptions>, words: RegExp]>([
  [{ program: "/nowhere" }, /no program folder \/nowhere/],
  [{ driver: "cli", stateFile: "x" }, /exportState/],
  [{ driver: "cli", others: {} }, /others is only/],
  [{ driver: "cli", env: { PATH: "/nowhere" } }, /no Pulumi CLI.*on the PATH/],
])("create throws an error with the reason if the stack cannot start: %j", async (options, words) => {
  await expect(PulumiStack.create({ program: THINGS, ...options })).rejects.toThrow(words);
});
