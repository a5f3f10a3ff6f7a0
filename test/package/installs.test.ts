import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { installWith, type ManagerName, managers } from "./installs";
import { pack } from "./pack";

/*
 * Installs the packed file into an empty folder outside of the repository, and runs the README's program there.
 * `npm run test:all` does this with npm and the test kit's engine. `npm run test:installs` does it with all package managers,
 * and also on the Pulumi CLI if there is one on the PATH.
 */
const atLength = process.env["INSTALLS"] === "all";
const cli = atLength && (await findPulumiCli());

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-install-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { tarball } = pack(folder);

const life = [
  { command: "preview", changes: { create: 2 }, requests: [] },
  { command: "up", changes: { create: 2 }, requests: ["POST"] },
  { command: "refresh", changes: { same: 2 }, requests: ["GET"] },
  { command: "destroy", changes: { delete: 2 }, requests: ["DELETE"] },
];

const tested: ManagerName[] = atLength ? (Object.keys(managers) as ManagerName[]) : ["npm"];

describe.each(tested)("after an installation with %s", (name) => {
  test("ES modules can import every name, and the README's program can be deployed and destroyed", async () => {
    const installed = await installWith(name, join(folder, name.replace(/\W/g, "-")), tarball);
    const { all, missing } = await installed.names();
    expect(missing).toEqual([]);
    expect(all).toBeGreaterThan(20);
    for (const provider of installed.providers) {
      expect(await installed.life("kit", provider), provider).toEqual(life);
      if (cli) expect(await installed.life("cli", provider), provider).toEqual(life);
    }
  });
});
