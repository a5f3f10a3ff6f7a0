import { parseArgs } from "node:util";
import { didYouMean } from "../data/text";
import { UserError } from "../data/userError";
import { columns, wrapped } from "./terminalText";

/* The frame of all commands: results go to stdout, messages to stderr, and no command ever asks a question. */

/** Exit codes. Shells have 141 for SIGPIPE. */
export const EXIT = { done: 0, failed: 1, usage: 2, findings: 7, unread: 141 } as const;

/** Invalid arguments. */
export class UsageError extends UserError {}

export interface Terminal {
  write(text: string): unknown;
}

export interface Streams {
  stdout: Terminal;
  stderr: Terminal;
}

/** Runs with these arguments, and returns the exit code. */
export type CliCommand = (args: string[], streams?: Streams) => Promise<number>;

/** A row of this table makes an option's line in `--help`, the check of its value, and the hint after a mistake. */
export interface Option {
  /** What stands for the value in the help. Without it, the option is a switch. */
  readonly value?: string;
  readonly help: string;
  /**
   * The value from its text. Default: the text itself.
   *
   * @throws UsageError with the rest of a sentence that begins with the option. It does not quote the text, which may be secret.
   */
  readonly parse?: (text: string) => unknown;
  /** As a user would write it. */
  readonly default?: string;
  readonly isRepeatable?: true;
  /** Without one of these options, this one has no effect. */
  readonly needs?: readonly string[];
  /** Beside these options, this one has no effect. */
  readonly excludes?: readonly string[];
}

/** By name: `clientIp` is `--client-ip`. */
export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { parse(text: string): infer V }
  ? V
  : O extends { value: string }
    ? string
    : boolean;

export type Values<T extends Options> = {
  [K in keyof T]: T[K] extends { isRepeatable: true }
    ? readonly Value<T[K]>[]
    : T[K] extends { default: string }
      ? Value<T[K]>
      : T[K] extends { value: string }
        ? Value<T[K]> | undefined
        : boolean;
};

/** Writes a line to stderr: to the terminal, or to the log of a pipeline. */
export type LogLine = (line: string) => void;

export interface Definition<T extends Options> {
  name: string;
  /** What the command does. */
  about: string;
  /** The arguments besides the options, as in `FILE…`. Default: none are accepted. */
  takes?: string;
  options: T;
  /** What the help says after the options. */
  notes?: string;
  /**
   * @returns The exit code.
   * @throws UsageError if the arguments are invalid.
   */
  run(values: Values<T>, io: CommandIo, others: string[]): Promise<number>;
}

export interface CommandIo extends Streams {
  log: LogLine;
  /** The program and the command, which errors begin with: `pulumi-endpoints check-policy`. */
  name: string;
}

/** The program that a command is part of. */
export interface Program {
  name: string;
  /** How its usage begins: `npx pulumi-endpoints`. */
  start: string;
  /** The exit code after an error that is no invalid argument. */
  exitAfter(error: unknown): number;
}

/** A failure of the command is one line on stderr, and the last one. */
export function command<const T extends Options>(definition: Definition<T>, program: Program): CliCommand {
  const name = `${program.name} ${definition.name}`;
  return async (args, { stdout, stderr } = process) => {
    const log: LogLine = (line) => stderr.write(`${line}\n`);
    if (args.includes("--help") || args.includes("-h")) {
      stdout.write(helpOf(definition, program));
      return EXIT.done;
    }
    try {
      const { values, others } = parsed(definition, args);
      return await definition.run(values, { stdout, stderr, log, name }, others);
    } catch (error) {
      const isUsage = error instanceof UsageError;
      for (const line of messageOf(error).split("\n"))
        log(`${name}: ${line}${isUsage && isOnOption(line) ? HINT : ""}`);
      if (isUsage) return EXIT.usage;
      return program.exitAfter(error);
    }
  };
}

const HINT = " (--help lists the options)";

/** Whether a message is about an option, which it then begins with. */
const isOnOption = (message: string) => message.startsWith("-");

const flagOf = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** @throws UsageError for the first mistake: an unknown option, or a missing, wrong or useless value. */
function parsed<T extends Options>(
  { options, takes }: Definition<T>,
  args: string[],
): { values: Values<T>; others: string[] } {
  const rows = new Map(Object.entries<Option>(options).map(([name, row]) => [flagOf(name), { name, row }]));
  const config = [...rows].map(([flag, { row }]) => {
    return [flag.slice(2), { type: row.value === undefined ? "boolean" : "string" } as const] as const;
  });
  const { tokens, positionals } = parseArgs({
    ...{ args, options: Object.fromEntries(config), strict: false, tokens: true, allowPositionals: true },
  });
  const given = new Map<string, unknown[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { rawName: flag, value, inlineValue: isInline } = token;
    const { name, row } = rows.get(flag) ?? {};
    if (name === undefined || row === undefined)
      throw new UsageError(`${flag} is no option${didYouMean(flag, [...rows.keys()])}`);
    if (row.value === undefined && value !== undefined) throw new UsageError(`${flag} takes no value`);
    if (row.value !== undefined && (value === undefined || (!isInline && /^-./.test(value))))
      throw new UsageError(
        `${flag} needs a value, ${row.value}; write one that starts with a dash as ${flag}=-…`,
      );
    if (value === "") throw new UsageError(`${flag} must not be empty`);
    const earlier = given.get(name) ?? [];
    if (earlier.length > 0 && !row.isRepeatable) throw new UsageError(`${flag} can be given only once`);
    given.set(name, [...earlier, parsedValue(flag, row, value)]);
  }
  const [unexpected] = positionals;
  if (takes === undefined && unexpected !== undefined)
    throw new UsageError(`there is an argument too many: ${unexpected}`);
  for (const [flag, { name, row }] of rows) {
    if (!given.has(name)) continue;
    const { needs = [], excludes = [] } = row;
    if (needs.length > 0 && !needs.some((other) => given.has(other)))
      throw new UsageError(`${flag} needs ${needs.map(flagOf).join(" or ")}`);
    const other = excludes.find((name) => given.has(name));
    if (other !== undefined) throw new UsageError(`${flag} and ${flagOf(other)} exclude each other`);
  }
  const values = [...rows].map(([flag, { name, row }]) => {
    const standard = row.value !== undefined && row.default && parsedValue(flag, row, row.default);
    const all = given.get(name) ?? [];
    return [name, row.isRepeatable ? all : (all[0] ?? standard)];
  });
  return { values: Object.fromEntries(values), others: positionals };
}

function parsedValue(
  flag: string,
  { parse = (text) => text }: Option,
  text: string | boolean | undefined,
): unknown {
  if (typeof text !== "string") return true;
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${flag} ${error.message}`) : error;
  }
}

function helpOf<T extends Options>(
  { name, about, takes, options, notes }: Definition<T>,
  program: Program,
): string {
  const lines = Object.entries<Option>(options).map(([key, row]): [string, string] => {
    const condition = row.needs ? `with ${row.needs.map(flagOf).join(" or ")}: ` : "";
    const repeated = row.isRepeatable ? "; can be repeated" : "";
    const standard = row.default === undefined ? "" : ` (default: ${row.default})`;
    return [`${flagOf(key)} ${row.value ?? ""}`.trim(), `${condition}${row.help}${repeated}${standard}`];
  });
  const usage = `Usage: ${program.start} ${[name, lines.length > 0 && "[options]", takes].filter(Boolean).join(" ")}`;
  return [wrapped(about), usage, columns([...lines, ["--help", "this text"]]), notes && wrapped(notes)]
    .filter((part) => part)
    .map((part) => `${part}\n`)
    .join("\n");
}

/** An error's message, as people may read it. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why something cannot be written, for the end of a sentence. */
export function whyNotWritten(error: unknown): string {
  const code = error instanceof Error && "code" in error ? `${error.code}` : "";
  const reasons: Record<string, string> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the disk's quota is used up",
    EROFS: "the disk is read-only",
    EACCES: "permission denied",
    EEXIST: "it exists already",
    ENOENT: "its folder does not exist, or that of the file to which it links",
  };
  return reasons[code] ?? messageOf(error);
}
