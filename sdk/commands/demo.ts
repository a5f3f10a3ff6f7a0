import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { UserError } from "../../provider/api/apiErrors";
import {
  Emulator,
  findPulumiCli,
  type RecordedRequest,
  RunFailed,
  type RunResult,
  TestStack,
  traceText,
} from "../testing";
import { command, EXIT } from "./command";
import { table } from "./text";

/** From `dist/sdk/commands` to the package's folder. */
const PACKAGE_FOLDER = join(__dirname, "../../..");

type Print = (line: string) => void;

/** `npx pulumi-endpoints demo`: one program through its whole life on the emulated service. */
export const demoCommand = command({
  name: "demo",
  about: "Shows the whole life of an endpoint on the emulator, step by step, in half a minute.",
  options: {},
  notes:
    "It runs the package's examples/quickstart with the Pulumi CLI if it is on the PATH, and otherwise with the test kit's engine.",

  async run(_values, { stdout }) {
    const print: Print = (line) => stdout.write(`${line}\n`);
    // In a terminal, Ctrl-C also ends the step's processes. A second one ends the demo immediately.
    const interrupted = new AbortController();
    const onInterrupt = () => interrupted.abort();
    process.once("SIGINT", onInterrupt);
    const emulator = await Emulator.start();
    const driver = (await findPulumiCli()) ? "cli" : "kit";
    print(
      driver === "cli"
        ? "Running examples/quickstart with the Pulumi CLI on the PATH. The state is in a temporary folder."
        : "Running examples/quickstart with the test kit's engine, because no Pulumi CLI is on the PATH.",
    );
    print(`The service is an emulator at ${emulator.baseUrl}.`);
    const { program, remove } = quickstart();
    try {
      const stack = await TestStack.create({ program, stackName: "demo", driver, emulator });
      try {
        printTable(await play(stack, emulator, print, interrupted.signal), print);
      } finally {
        await stack.close();
      }
    } catch (error) {
      if (interrupted.signal.aborted)
        throw new UserError("ended by Ctrl-C; its processes have ended, and its folders are removed");
      if (error instanceof RunFailed) print(error.result.text);
      throw error;
    } finally {
      await emulator.close();
      remove();
      process.off("SIGINT", onInterrupt);
    }
    return EXIT.done;
  },
});

/** The program of the demo. Node.js and Pulumi compile no TypeScript below `node_modules`, so an installed one is copied. */
function quickstart(): { program: string; remove: () => void } {
  const program = join(PACKAGE_FOLDER, "examples", "quickstart");
  if (!PACKAGE_FOLDER.split(sep).includes("node_modules")) return { program, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-demo-"));
  cpSync(program, join(folder, "quickstart"), { recursive: true });
  symlinkSync(join(PACKAGE_FOLDER, ".."), join(folder, "node_modules"), "junction");
  return {
    program: join(folder, "quickstart"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type TableRow = [step: string, happened: string, requests: string];

/** Each `up` skips its preview, so that the demo takes half a minute. */
async function play(
  stack: TestStack,
  emulator: Emulator,
  print: Print,
  interrupted: AbortSignal,
): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  const heading = (title: string) => print(`\n── ${title} ${"─".repeat(Math.max(0, 74 - title.length))}`);
  /** Runs a step, shows its output, and throws unless the row of the table is true. */
  const step = async (
    title: string,
    happened: string,
    run: Promise<RunResult>,
    isTrue: (result: RunResult) => boolean = () => true,
  ) => {
    heading(title);
    const result = await run;
    interrupted.throwIfAborted();
    print(result.text.trim());
    if (!isTrue(result)) throw new Error(`the step “${title}” did not do this: ${happened}`);
    rows.push([title, happened, summary(result.requests)]);
  };
  const live = () => emulator.endpoints[0];
  const shows = (text: string) => (result: RunResult) => result.text.includes(text);
  /** Without the diff, the CLI does not show what changes in a property. */
  const diff = true;
  const up = (options?: { diff: boolean }) => stack.up({ skipPreview: true, ...options });

  await step("preview", "would create 1 endpoint", stack.preview(), ({ steps }) => steps[0]?.op === "create");
  const url = "https://shop.example.com";
  await step("up", `created ${url}`, up(), () => live()?.url === url);

  const by = "edited by hand";
  emulator.edit(live()?.id ?? "", { description: by });
  print(`\n(someone edits the endpoint on the service: description = ${JSON.stringify(by)})`);
  await step(
    "refresh",
    "saw that description drifted",
    stack.refresh({ diff }),
    shows(`"front door" => "${by}"`),
  );
  await step("up again", "put description back", up({ diff }), () => live()?.description === "front door");

  await stack.setConfig("quickstart:greeting", "hello again");
  print('\n(the program changes its policy: greeting = "hello again")');
  await step(
    "up, new policy",
    "changed trafficPolicy in place",
    up({ diff }),
    shows('"hello" => "hello again"'),
  );
  await step("preview, nothing new", "nothing to do", stack.preview({ expectNoChanges: true }));

  heading("a request");
  const reply = await emulator.fetch(url);
  const body = await reply.text();
  print(`GET ${url}\n${traceText(reply.trace)}\n${reply.status} ${body}`);
  if (!body.includes("hello again")) throw new Error("the new policy did not answer");
  rows.push(["a request", `the policy answered ${reply.status}`, "none to the API"]);

  const isEmpty = () => emulator.endpoints.length === 0;
  await step("destroy", "deleted 1 endpoint, nothing is left", stack.destroy(), isEmpty);
  return rows;
}

function printTable(rows: TableRow[], print: Print): void {
  print("\nWhat happened, and which requests each step made:\n");
  for (const line of table(rows)) print(`  ${line}`);
  print("\nNext: npx pulumi-endpoints new quickstart, for a project of your own with this program.");
}

/** Requests by method, as `1 POST, 2 GET`. */
function summary(requests: RecordedRequest[]): string {
  const counts = new Map<string, number>();
  for (const { method } of requests) counts.set(method, (counts.get(method) ?? 0) + 1);
  return [...counts].map(([method, count]) => `${count} ${method}`).join(", ") || "no request";
}
