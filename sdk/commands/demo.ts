import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { UserError } from "../../provider/data/index";
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
import { port } from "./options";
import { firstSignal, serveEndpoints } from "./serveEmulator";
import { groupBy, table } from "./text";

/** From `dist/sdk/commands` to the package's folder. */
const PACKAGE_FOLDER = join(__dirname, "../../..");

type Print = (line: string) => void;

/** `npx pulumi-endpoints demo`: one program through its whole life on the emulated service. */
export const demoCommand = command({
  name: "demo",
  about: "Shows the whole life of an endpoint on the emulator, step by step, in half a minute.",
  options: {
    serve: {
      value: "PORT",
      help: "before the end, answer requests to the endpoint on this port of 127.0.0.1, by the header Host, until Ctrl-C",
      parse: port,
    },
  },
  notes:
    "It runs the package's examples/quickstart with the Pulumi CLI if it is on the PATH, and otherwise with the test kit's engine.",

  async run({ serve }, { stdout }) {
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
        const answer = async () => {
          if (serve === undefined) return;
          await serveEndpoints(emulator, serve, print);
          // This Ctrl-C ends the answers, and not the demo.
          process.off("SIGINT", onInterrupt);
          await firstSignal();
          process.once("SIGINT", onInterrupt);
        };
        printTable(await runDemo(stack, emulator, print, interrupted.signal, answer), print);
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

/**
 * Each `up` skips its preview, so that the demo takes half a minute.
 *
 * @param answer Answers requests to the endpoint, before it is deleted.
 * @returns The requests of each step.
 */
async function runDemo(
  stack: TestStack,
  emulator: Emulator,
  print: Print,
  interrupted: AbortSignal,
  answer: () => Promise<void>,
): Promise<[step: string, requests: string][]> {
  const rows: [step: string, requests: string][] = [];
  const heading = (title: string) => print(`\n── ${title} ${"─".repeat(Math.max(0, 74 - title.length))}`);
  const step = async (title: string, run: Promise<RunResult>) => {
    heading(title);
    const result = await run;
    interrupted.throwIfAborted();
    print(result.text.trim());
    rows.push([title, summary(result.requests)]);
  };
  // Without the diff, the CLI does not show what changes in a property.
  const up = () => stack.up({ skipPreview: true, diff: true });

  await step("preview: would create the endpoint", stack.preview());
  await step("up: creates it", up());

  emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
  print('\n(someone edits the endpoint on the service: description = "edited by hand")');
  await step("refresh: sees that the description drifted", stack.refresh({ diff: true }));
  await step("up again: puts it back", up());

  await stack.setConfig("quickstart:greeting", "hello again");
  print('\n(the program changes its policy: greeting = "hello again")');
  await step("up: changes the policy in place", up());
  await step("preview: finds nothing to do", stack.preview({ expectNoChanges: true }));

  const url = "https://shop.example.com";
  heading("a request to the endpoint");
  const reply = await emulator.fetch(url);
  print(`GET ${url}\n${traceText(reply.trace)}\n${reply.status} ${await reply.text()}`);
  await answer();

  await step("destroy: deletes it", stack.destroy());
  return rows;
}

function printTable(rows: [step: string, requests: string][], print: Print): void {
  print("\nThe requests of each step:\n");
  for (const line of table(rows)) print(`  ${line}`);
  print("\nNext: npx pulumi-endpoints new quickstart, for a project of your own with this program.");
}

/** Requests by method, as `1 POST, 2 GET`. */
function summary(requests: RecordedRequest[]): string {
  const byMethod = groupBy(requests, ({ method }) => method);
  return [...byMethod].map(([method, { length }]) => `${length} ${method}`).join(", ") || "no request";
}
