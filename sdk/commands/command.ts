import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { ApiError, UserError } from "../../provider/api/apiErrors";
import { didYouMean } from "../../provider/api/text";
import { NEEDS_LOGIN, PulumiFailed } from "../pulumi";

/* The frame of all commands: results go to stdout, messages to stderr, and no command ever asks a question. */

/** Exit codes. The Pulumi CLI also ends with 7 if it finds unexpected changes, and shells have 141 for SIGPIPE. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  authentication: 3,
  findings: 7,
  undeployed: 8,
  unread: 141,
} as const;

/** Invalid arguments. */
export class UsageError extends UserError {}

export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface Streams {
  stdout: Terminal;
  stderr: Terminal;
}

/** Runs with these arguments, and returns the exit code. */
export type CliCommand = (args: string[], streams?: Streams) => Promise<number>;

type Options = NonNullable<ParseArgsConfig["options"]>;
export type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>["values"];

/** Writes a line to stderr: to the terminal, or to the log of a pipeline. */
export type LogLine = (line: string) => void;

interface Definition<T extends Options> {
  name: string;
  help: string;
  options: T;
  /** Whether the command accepts file names. */
  takesFiles?: boolean;
  /**
   * @returns The exit code.
   * @throws UsageError if the arguments are invalid.
   */
  run(values: Values<T>, io: Streams & { log: LogLine }, files: string[]): Promise<number>;
}

/** A failure of the command is one line on stderr. */
export function command<const T extends Options>(definition: Definition<T>): CliCommand {
  const { name, help, options, takesFiles: allowPositionals = false, run } = definition;
  return async (args, { stdout, stderr } = process) => {
    const log: LogLine = (line) => stderr.write(`${line}\n`);
    if (args.includes("--help") || args.includes("-h")) {
      stdout.write(`${help}\n`);
      return EXIT.done;
    }
    try {
      const { values, positionals } = parsed({ args, options, allowPositionals });
      return await run(values, { stdout, stderr, log }, positionals);
    } catch (error) {
      const isUsage = error instanceof UsageError;
      for (const line of messageOf(error).split("\n"))
        log(`pulumi-endpoints ${name}: ${line}${isUsage ? " (--help lists the options)" : ""}`);
      if (isUsage) return EXIT.usage;
      return isAuthenticationError(error) ? EXIT.authentication : EXIT.failed;
    }
  };
}

function parsed<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [, unknown] = /^Unknown option '--(.+?)'/.exec(messageOf(error)) ?? [];
    const options = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    const hint = unknown && didYouMean(unknown, options);
    const [, ambiguous] = /^Option '.*?(--[\w-]+).*' argument is ambiguous/.exec(messageOf(error)) ?? [];
    if (ambiguous)
      throw new UsageError(
        `${ambiguous} needs a value; write one that starts with a dash as ${ambiguous}=-…`,
      );
    throw new UsageError(hint ? `--${unknown} is no option${hint}` : messageOf(error));
  }
}

/** The text of an option's file. @throws UsageError if it cannot be read. */
export function readText(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") throw new UsageError(`${option}: there is no file ${file}`);
    if (code === "EISDIR") throw new UsageError(`${option} takes a file, and ${file} is a folder`);
    throw new UsageError(`${option}: ${file} cannot be read (${code})`);
  }
}

/** @throws UsageError if the option's file cannot be written: its folder does not exist, or it is a folder itself, or a link to a file. */
export function assertFile(option: string, file: string): void {
  if (!existsSync(dirname(resolve(file))))
    throw new UsageError(`${option}: ${file} is in a folder that does not exist`);
  const target = statSync(file, { throwIfNoEntry: false });
  if (target?.isDirectory()) throw new UsageError(`${option} takes a file, and ${file} is a folder`);
  // A link such as /dev/stdout leads to a terminal or a pipe, which contains nothing to lose.
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && target?.isFile() !== false)
    throw new UsageError(
      `${option}: ${file} is a symbolic link, and this would write its target: name the target, or remove the link`,
    );
}

/** A word of a shell, in single quotes if it needs them. */
export function shellWord(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The items by key, in their order. */
export function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** An error's message, as people may read it. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the service refused the key, or Pulumi's backend the login. */
export const isAuthenticationError = (error: unknown): boolean =>
  error instanceof ApiError
    ? [401, 403].includes(error.status)
    : error instanceof PulumiFailed && error.code === NEEDS_LOGIN;
