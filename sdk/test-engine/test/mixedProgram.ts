import { join } from "node:path";
import { expect } from "vitest";
import { PulumiStack, type RunResult } from "../index";
import { FAST_START } from "./fastStart";

/**
 * Runs a program with a component, a dynamic provider, a plugin in a folder and a stack reference: previews, updates, changes,
 * refreshes and destroys it.
 */
export async function expectMixedProgramRuns(driver: PulumiStack["driver"]): Promise<void> {
  await using stack = await PulumiStack.create({
    driver,
    program: join(import.meta.dirname, "programs/mixed"),
    env: FAST_START,
    stackReferences: { "organization/region/dev": { groundwater: 7 } },
  });
  const named = ({ steps }: RunResult) =>
    steps.map(({ op, name, diff }) => [op, name, ...diff].join(" ")).sort();
  const all = (op: string) => ["first", "first-door", "well"].map((name) => `${op} ${name}`);
  const read = "read organization/region/dev";

  expect(named(await stack.preview())).toEqual([...all("create"), read]);
  const { outputs } = await stack.up({ skipPreview: true });
  expect(outputs).toEqual({ door: "door-red", isOpen: false, litres: 700 });
  await stack.setConfig("colour", "blue");
  expect(named(await stack.up({ skipPreview: true }))).toEqual([
    read,
    "same first",
    "same well",
    "update first-door ~colour",
  ]);
  const { resources = [] } = (await stack.exportState()).deployment;
  const well = resources.find(({ urn }) => urn.endsWith("::well"));
  expect(well?.inputs?.["lock"]).toMatchObject({ plaintext: '"1234"' });
  await stack.refresh({ expectNoChanges: true });
  expect(named(await stack.destroy())).toEqual([...all("delete"), "discard organization/region/dev"].sort());
  expect((await stack.exportState()).deployment.resources).toBeUndefined();
}
