import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { UserError } from "../../provider/api/apiErrors";
import { isAuthenticationError } from "./account";

/* The frame of all commands: results go to stdout, messages to stderr, and no command ever asks a question. */

/** Exit codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, authentication: 3 } as const;

/** Arguments that make no sense. */
export class UsageError extends UserError {
  override readonly name = "UsageError";
}

export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface Streams {
  stdout: Terminal;
  stderr: Terminal;
}

export interface Command {
  name: string;
  help: string;
  /**
   * Gives the exit code.
   *
   * @throws UsageError if the arguments make no sense.
   */
  run(args: string[], streams: Streams): Promise<number>;
}

/** Runs a command and gives its exit code. A failure is one line on stderr. */
export async function runCommand(
  command: Command,
  args: string[],
  streams: Streams = process,
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    streams.stdout.write(`${command.help}\n`);
    return EXIT.done;
  }
  try {
    return await command.run(args, streams);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? " (--help lists the options)" : "";
    streams.stderr.write(`pulumi-endpoints ${command.name}: ${messageOf(error)}${hint}\n`);
    if (isUsage) return EXIT.usage;
    return isAuthenticationError(error) ? EXIT.authentication : EXIT.failed;
  }
}

/** The values of a command's options. */
export function parseOptions<const T extends NonNullable<ParseArgsConfig["options"]>>(
  args: string[],
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>["values"] {
  return parseArguments({ args, options }).values;
}

/** Options, and what stands beside them. */
export function parseArguments<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** Writes a line to stderr, for the person at the terminal or the log of a pipeline. */
export function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Where a command's result goes. */
export interface Destination {
  /** Default: stdout. */
  file: string | undefined;
  /** Whether an existing file may be overwritten. */
  force: boolean;
}

/** Throws if the result could not be written in the end, before anything else is done. */
export function assertWritable({ file, force }: Destination): void {
  if (file === undefined) return;
  assertFile("--out", file);
  if (existsSync(file) && !force)
    throw new UsageError(`${file} exists; give --force to overwrite it, or another --out`);
}

/** Throws if an option's file cannot be written because its folder does not exist or it is a folder itself. */
export function assertFile(option: string, file: string): void {
  if (!existsSync(dirname(resolve(file))))
    throw new UsageError(`${option}: ${file} is in a folder that does not exist`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${option} takes a file, and ${file} is a folder`);
}

export function writeResult({ file, force }: Destination, text: string): void {
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text, { flag: force ? "w" : "wx" });
}

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
