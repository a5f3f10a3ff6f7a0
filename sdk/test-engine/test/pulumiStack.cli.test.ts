import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/folders";
import { findPulumiCli } from "../../pulumi-cli/index";
import { PulumiStack } from "../index";
import { expectMixedProgramRuns } from "./mixedProgram";

describe.skipIf(!(await findPulumiCli()))("with the Pulumi CLI", () => {
  test("the program of pulumiStack.test.ts runs alike", () => expectMixedProgramRuns("cli"));

  test("the driver refuses to overwrite a program's stack settings", async () => {
    const folder = temporaryFolder();
    const settings = join(folder, "Pulumi.test.yaml");
    writeFileSync(settings, "config: {}\n");
    await expect(PulumiStack.create({ driver: "cli", program: folder })).rejects.toThrow(
      /Pulumi\.test\.yaml already exists; choose another stackName/,
    );
    expect(readFileSync(settings, "utf8")).toBe("config: {}\n");
  });
});
