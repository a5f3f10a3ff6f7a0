import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { canonicalJson } from "../../provider/api/json";
import {
  Emulator,
  findPulumiCli,
  type RecordedRequest,
  RunFailed,
  type RunResult,
  TestStack,
} from "../testing";
import { type Command, EXIT, parseOptions, runCommand } from "./command";

/** From `dist/sdk/commands` to the package's folder. */
const PACKAGE = join(__dirname, "../../..");

const HELP = `Shows the whole life of an endpoint on the emulator, step by step, in half a minute.

Usage: npx pulumi-endpoints demo

It runs the package's examples/quickstart with the Pulumi CLI where one is on the PATH, and with the test kit's engine otherwise.`;

interface Row {
  step: string;
  happened: string;
  requests: string;
}

/** Every step is checked. Previews are shown once, so that the demo takes half a minute. */
const command: Command = {
  name: "demo",
  help: HELP,

  async run(args) {
    parseOptions(args, {});
    const emulator = await Emulator.start();
    const driver = (await findPulumiCli()) ? "cli" : "kit";
    print(
      driver === "cli"
        ? "Running examples/quickstart with the Pulumi CLI on the PATH, its state in a temporary folder."
        : "Running examples/quickstart with the test kit's engine, since no Pulumi CLI is on the PATH.",
    );
    print(`The service is an emulator at ${emulator.baseUrl}.`);
    const { program, remove } = quickstart();
    try {
      const stack = await TestStack.create({ program, stackName: "demo", driver, emulator });
      try {
        printTable(await play(stack, emulator));
      } finally {
        await stack.close();
      }
    } catch (error) {
      if (error instanceof RunFailed) print(error.result.text);
      throw error;
    } finally {
      await emulator.close();
      remove();
    }
    return EXIT.done;
  },
};

/** `npx pulumi-endpoints demo`: one program through its whole life on the emulated service. */
export const demoCommand = (args: string[]): Promise<number> => runCommand(command, args);

/** The program of the demo. Node.js and Pulumi compile no TypeScript below `node_modules`, so an installed one is copied. */
function quickstart(): { program: string; remove: () => void } {
  const program = join(PACKAGE, "examples", "quickstart");
  if (!PACKAGE.split(sep).includes("node_modules")) return { program, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-demo-"));
  cpSync(program, join(folder, "quickstart"), { recursive: true });
  symlinkSync(join(PACKAGE, ".."), join(folder, "node_modules"), "junction");
  return {
    program: join(folder, "quickstart"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function play(stack: TestStack, emulator: Emulator): Promise<Row[]> {
  const rows: Row[] = [];
  /** Runs a step, shows its output, and throws unless everything expected holds. */
  const step = async (
    title: string,
    run: () => Promise<RunResult>,
    happened: (result: RunResult) => string,
    expected: (result: RunResult) => Record<string, boolean>,
  ) => {
    print(`\n── ${title} ${"─".repeat(Math.max(0, 74 - title.length))}`);
    const result = await run();
    print(result.text.trim());
    for (const [what, holds] of Object.entries(expected(result)))
      if (!holds) throw new Error(`expected that ${what}`);
    rows.push({ step: title, happened: happened(result), requests: summary(result.requests) });
  };
  const live = () => emulator.endpoints[0];
  const changed = ({ steps }: RunResult) => steps.flatMap(({ diff }) => diff).join();
  const up = () => stack.up({ skipPreview: true });

  await step(
    "preview",
    () => stack.preview(),
    () => "would create 1 endpoint",
    ({ steps, requests }) => ({
      "the preview shows a create, without a request": steps[0]?.op === "create" && requests.length === 0,
    }),
  );
  await step(
    "up",
    up,
    ({ outputs }) => `created ${String(outputs["url"])}`,
    ({ outputs }) => ({
      "the endpoint is on the service": live() !== undefined && outputs["endpointId"] === live()?.id,
    }),
  );

  const by = "edited by hand";
  emulator.edit(live()?.id ?? "", { description: by });
  print(`\n(someone edits the endpoint on the service: description = ${JSON.stringify(by)})`);
  await step(
    "refresh",
    () => stack.refresh(),
    () => "saw that description drifted",
    (result) => ({ "exactly the description has drifted": changed(result) === "~description" }),
  );
  await step(
    "up again",
    up,
    () => "put description back",
    (result) => ({
      "the description is as the program has it": live()?.description === "front door",
      "the repair shows exactly the description": changed(result) === "~description",
    }),
  );

  await stack.setConfig("quickstart:greeting", "hello again");
  print('\n(the program changes its policy: greeting = "hello again")');
  await step(
    "up, new policy",
    up,
    () => "changed trafficPolicy in place",
    (result) => ({
      "the update shows exactly the policy": changed(result) === "~trafficPolicy",
      "the new policy is on the service": live()?.traffic_policy?.includes("hello again") === true,
    }),
  );
  await step(
    "preview, nothing new",
    () => stack.preview({ expectNoChanges: true }),
    () => "nothing to do",
    ({ changes }) => ({ "nothing would change": canonicalJson(changes) === canonicalJson({ same: 2 }) }),
  );
  await step(
    "destroy",
    () => stack.destroy(),
    () => "deleted 1 endpoint, nothing is left",
    () => ({ "nothing is left on the service": emulator.endpoints.length === 0 }),
  );
  return rows;
}

function printTable(rows: Row[]): void {
  const width = (key: keyof Row) => Math.max(...rows.map((row) => row[key].length));
  print("\nWhat happened, and which requests each step made:\n");
  for (const row of rows)
    print(`  ${row.step.padEnd(width("step"))}  ${row.happened.padEnd(width("happened"))}  ${row.requests}`);
  print("\nNext: README.md, or examples/ for more programs.");
}

/** Requests by method, as `1 POST, 2 GET`. */
function summary(requests: RecordedRequest[]): string {
  const counts = new Map<string, number>();
  for (const { method } of requests) counts.set(method, (counts.get(method) ?? 0) + 1);
  return [...counts].map(([method, count]) => `${count} ${method}`).join(", ") || "no request";
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
