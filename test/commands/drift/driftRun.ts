import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../provider/service/apiErrors";
import { driftWith } from "../../../sdk/commands/drift";
import { type DriftReport, reportSchema } from "../../../sdk/commands/drift/report";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import type { TestStack } from "../../../sdk/testing";
import { temporaryFolder } from "../../folders";
import { type CommandResult, startInProcess } from "../runCommand";
import type { DriftFixture } from "./fixtures";

export interface DriftResult extends CommandResult {
  report: DriftReport;
  /** The text of the written JSON report. */
  json: string;
  page: string;
}

interface Options extends Omit<DriftFixture, "stacks"> {
  /** Called while the command runs, with its output so far. */
  during?: (printed: { stderr: () => string }) => Promise<void>;
}

/** Runs `drift` on these stacks, beside these known ones, and writes every form of the report. */
export async function runDrift(
  stacks: TestStack | DriftStack[],
  { args = [], ignore = [], known = {}, backend, during }: Options = {},
): Promise<DriftResult> {
  const folder = temporaryFolder();
  const files = { json: join(folder, "drift.json"), html: join(folder, "drift.html") };
  const projects = join(folder, "stacks.yaml");
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");
  writeFileSync(projects, JSON.stringify({ projects: [{ folder: ".", stacks: ["prod"] }], ignore }));
  const readKnown = async (_: unknown, stack: string) => {
    const entries = known[stack];
    if (!entries) throw new UserError(`no stack named '${stack}' found`);
    return entries;
  };
  const command = driftWith({
    open: async () => (Array.isArray(stacks) ? stacks : [stackOf(stacks)]),
    readKnown,
    async stackNames() {
      if (!backend) throw new UserError("no stacks");
      return backend;
    },
  });
  const outputs = ["--json", files.json, "--html", files.html];
  const run = startInProcess(command, [
    ...[...args, "--projects", projects, ...outputs],
    ...Object.keys(known).flatMap((name) => ["--known", name]),
  ]);
  await during?.({ stderr: () => run.printed.stderr });
  const code = await run.code;
  const json = readFileSync(files.json, "utf8");
  const report = reportSchema.parse(JSON.parse(json));
  return { code, ...run.printed, report, json, page: readFileSync(files.html, "utf8") };
}

/** Adapts a stack of the test kit to the command. */
function stackOf(stack: TestStack): DriftStack {
  const { emulator } = stack;
  const settings: Record<string, string> = {
    "endpoints:baseUrl": emulator.baseUrl,
    "endpoints:apiKey": emulator.apiKey,
  };
  return {
    name: "test",
    project: "case",
    config: async () => (key) => settings[key],
    state: () => stack.exportState(),
    updates: async () => ({ result: "succeeded", isRewritten: false }),
  };
}
