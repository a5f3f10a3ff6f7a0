import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../provider/service/apiErrors";
import { driftWith } from "../../../sdk/commands/drift";
import { type DriftReport, reportSchema } from "../../../sdk/commands/drift/report";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import type { ReadStates } from "../../../sdk/commands/otherStates";
import { withProject } from "../../../sdk/commands/stackNames";
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

/** Runs `drift` on these stacks, beside others of the backend, and writes every form of the report. */
export async function runDrift(
  stacks: TestStack | DriftStack[],
  { args = [], ignore = [], others = {}, during }: Options = {},
): Promise<DriftResult> {
  const folder = temporaryFolder();
  const files = { json: join(folder, "drift.json"), html: join(folder, "drift.html") };
  const projects = join(folder, "stacks.yaml");
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");
  writeFileSync(projects, JSON.stringify({ projects: [{ folder: ".", stacks: ["prod"] }], ignore }));
  const checked = Array.isArray(stacks) ? stacks : [stackOf(stacks)];
  const names = checked.map(({ name, project }) => `organization/${withProject(name, project)}`);
  const command = driftWith({
    open: async () => checked,
    async backendsOf() {
      if (typeof others === "string") throw new UserError(others);
      return [{ url: "file:///backend", folders: [""], stacks: [...names, ...Object.keys(others)] }];
    },
    async readStates(backends) {
      const found: ReadStates = { stacks: [], unread: [] };
      for (const name of backends.flatMap((one) => one.stacks)) {
        const state = Object(others)[name] ?? "it is locked";
        if (typeof state === "string") found.unread.push({ name, reason: state });
        else found.stacks.push({ name, entries: [], creates: [], ...state });
      }
      return found;
    },
  });
  const outputs = ["--json", files.json, "--html", files.html];
  const run = startInProcess(command, [...args, "--projects", projects, ...outputs]);
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
    folder: "",
    config: async () => (key) => settings[key],
    state: () => stack.exportState(),
    updates: async () => ({ result: "succeeded", isRewritten: false }),
  };
}
