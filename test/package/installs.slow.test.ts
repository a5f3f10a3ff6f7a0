import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { findPulumiCli, TestStack } from "../../sdk/testing";
import { type Installed, install, installations } from "./installs";
import { pack } from "./pack";

/*
 * Installs the packed file into an empty folder outside of the repository, and runs the README's program there.
 * `npm run test:slow` does this with npm and the test kit's engine. `npm run test:installs` does it with all package managers,
 * versions of Node.js and of TypeScript, and also on the Pulumi CLI. What is not available is reported as skipped.
 */
const atLength = process.env["INSTALLS"] === "all";
const cli = await findPulumiCli();

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-install-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { tarball } = pack(folder);

const life = [
  { command: "up", changes: { create: 2 }, requests: ["POST"] },
  { command: "refresh", changes: { same: 2 }, requests: ["GET"] },
  { command: "destroy", changes: { delete: 2 }, requests: ["DELETE"] },
];

const tested = installations.filter(([name]) => atLength || name === "npm");

describe.each(tested)("after an installation with %s", (name, installation) => {
  let found: Installed | undefined;
  beforeAll(async () => {
    found = await install(installation, folder, tarball);
  }, 300_000);
  const installed = ({ skip }: TestContext) => found ?? skip(`${name} cannot be had here`);

  test("ES modules can import every name", async (context) => {
    const names = await installed(context).names();
    expect(names).toEqual({ all: expect.toSatisfy((all) => all > 20), missing: [] });
  });

  if (installation.checksTypes) {
    test("a program with every entry point compiles", async (context) => {
      await installed(context).checkTypes();
    });
  }

  const providers = installation.dynamicOnly ? (["dynamic"] as const) : (["dynamic", "plugin"] as const);
  const drivers = atLength ? (["kit", "cli"] as const) : (["kit"] as const);
  test.for(drivers.flatMap((driver) => providers.map((provider) => ({ driver, provider }))))(
    "the README's program can be deployed and destroyed with the $provider provider, on the driver $driver",
    async ({ driver, provider }, context) => {
      context.skip(driver === "cli" && !cli, "there is no Pulumi CLI");
      expect(await installed(context).life(driver, provider)).toEqual(life);
    },
  );

  if (name === "npm") {
    test("the installed command makes a new project from the quickstart, which can be previewed", async (context) => {
      const program = await installed(context).newProject("quickstart", tarball);
      await using stack = await TestStack.create({ program });
      expect((await stack.preview()).changes).toEqual({ create: expect.any(Number) });
    });
  }
});
