import { test } from "vitest";
import { findPulumiCli } from "../index";
import { plays } from "./village";

test.skipIf(!(await findPulumiCli()))("the program of pulumiStack.test.ts runs alike on the Pulumi CLI", () =>
  plays("cli"),
);
