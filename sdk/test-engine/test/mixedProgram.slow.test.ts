import { test } from "vitest";
import { findPulumiCli } from "../../pulumi-cli/index";
import { expectMixedProgramRuns } from "./mixedProgram";

test.skipIf(!(await findPulumiCli()))("the program of pulumiStack.test.ts runs alike on the Pulumi CLI", () =>
  expectMixedProgramRuns("cli"),
);
