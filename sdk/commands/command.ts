import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError } from "../../provider/api/userError";
import { EXIT, exitCodeOf } from "./account";

/* What commands have in common: results go to stdout, words to stderr, nothing is ever asked. */

/** Arguments that make no sense. */
export class UsageError extends UserError {
  override readonly name = "UsageError";
}

export interface Command<Options> {
  name: string;
  help: string;
  /** Throws an error with the reason where the arguments make no sense. */
  read(args: string[]): Options;
  /** Gives the exit code where that is another than `EXIT.done`. */
  run(options: Options): Promise<number | undefined>;
}

/** Where a command speaks. */
export interface Streams {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Runs a command to its exit code; every failure is told in one line. */
export async function runCommand<Options>(
  command: Command<Options>,
  args: string[],
  { stdout, stderr }: Streams = process,
): Promise<number> {
  const complain = (error: unknown, more = "") => {
    const message = error instanceof Error ? error.message : String(error);
    stderr.write(`pulumi-endpoints ${command.name}: ${message}${more}\n`);
  };
  if (args.includes("--help") || args.includes("-h")) {
    stdout.write(`${command.help}\n`);
    return EXIT.done;
  }
  let options: Options;
  try {
    options = command.read(args);
  } catch (error) {
    complain(error, " (--help lists the options)");
    return EXIT.usage;
  }
  try {
    return (await command.run(options)) ?? EXIT.done;
  } catch (error) {
    complain(error);
    return error instanceof UsageError ? EXIT.usage : exitCodeOf(error);
  }
}

/** Says something to the person at the terminal, or to the log of a pipeline. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Where a command's result goes. */
export interface Destination {
  /** Default: stdout. */
  file: string | undefined;
  /** Whether a file that is there may be overwritten. */
  force: boolean;
}

/** Throws where the result could not be written in the end, before anything else is done. */
export function assertWritable({ file, force }: Destination): void {
  if (file === undefined) return;
  if (!existsSync(dirname(resolve(file)))) throw new UsageError(`${file} is in a folder that does not exist`);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new UsageError(`${file} is a folder; --out takes a file`);
  if (there && !force) throw new UsageError(`${file} exists; give --force to overwrite it, or another --out`);
}

export function writeResult({ file, force }: Destination, text: string): void {
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text, { flag: force ? "w" : "wx" });
}

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
