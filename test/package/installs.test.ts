import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { installWith, type ManagerName, managers } from "./installs";
import { pack } from "./pack";

/*
 * The package as a user gets it: the packed file, installed into an empty folder that is not below this repository, and
 * the README's program. `npm run test:all` does so with npm and the test kit's engine; npm run test:installs with all package
 * managers, and on the Pulumi CLI too where it is on the PATH.
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

const tried: ManagerName[] = atLength ? (Object.keys(managers) as ManagerName[]) : ["npm"];

describe.each(tried)("installed with %s", (name) => {
  test("the README's program lives its whole life, and ES modules import every name", async () => {
    const installed = await installWith(name, join(folder, name.replace(/\W/g, "-")), tarball);
    const { all, missing } = await installed.names();
    expect(missing).toEqual([]);
    expect(all).toBeGreaterThan(20);
    expect(await installed.life("kit")).toEqual(life);
    if (cli) expect(await installed.life("cli")).toEqual(life);
  });
});
