import { parseArgs } from "node:util";
import { didYouMean, messageOf, UsageError } from "../../provider/data/index";
import { withoutKeys } from "../../provider/service/redaction";
import { type CommandIo, EXIT, type Streams, type Terminal } from "../io";
import { columns, wrapText } from "./text";

export { messageOf, UsageError } from "../../provider/data/index";
export { EXIT } from "../io";

/* The frame of all commands: results go to stdout, messages to stderr, and no command ever asks a question. */

/** The exit code for a stack whose state may not match its program. */
export const EXIT_UNDEPLOYED = 8;

/** Runs with these arguments, and returns the exit code. */
export type CliCommand = (args: string[], streams?: Streams) => Promise<number>;

/** An option of a command: its line in `--help`, the check of its value, and the hint after a mistake come from this. */
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

export type LogLine = CommandIo["log"];

interface Definition<T extends Options> {
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

/** Makes a command of its definition. If the command fails, the end of stderr says why. Nothing that it prints has an API key in it. */
export function command<const T extends Options>(definition: Definition<T>): CliCommand {
  const name = `pulumi-endpoints ${definition.name}`;
  return async (args, streams = process) => {
    const { stdout, stderr } = { stdout: redacted(streams.stdout), stderr: redacted(streams.stderr) };
    const log: LogLine = (line) => stderr.write(`${line}\n`);
    if (args.includes("--help") || args.includes("-h")) {
      stdout.write(helpOf(definition));
      return EXIT.done;
    }
    try {
      const { values, others } = parsed(definition, args);
      return await definition.run(values, { stdout, stderr, log, name }, others);
    } catch (error) {
      const isUsage = error instanceof UsageError;
      for (const line of messageOf(error).split("\n"))
        log(`${name}: ${line}${isUsage && isOnOption(line) ? HINT : ""}`);
      return isUsage ? EXIT.usage : EXIT.failed;
    }
  };
}

const redacted = (terminal: Terminal): Terminal => ({
  write: (text) => terminal.write(withoutKeys(text)),
});

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
    args,
    options: Object.fromEntries(config),
    strict: false,
    tokens: true,
    allowPositionals: true,
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
    const defaultValue = row.value !== undefined && row.default && parsedValue(flag, row, row.default);
    const all = given.get(name) ?? [];
    return [name, row.isRepeatable ? all : (all[0] ?? defaultValue)];
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

function helpOf<T extends Options>({ name, about, takes, options, notes }: Definition<T>): string {
  const lines = Object.entries<Option>(options).map(([key, row]): [string, string] => {
    const condition = row.needs ? `with ${row.needs.map(flagOf).join(" or ")}: ` : "";
    const repeated = row.isRepeatable ? "; can be repeated" : "";
    const defaultValue = row.default === undefined ? "" : ` (default: ${row.default})`;
    return [`${flagOf(key)} ${row.value ?? ""}`.trim(), `${condition}${row.help}${repeated}${defaultValue}`];
  });
  const usage = `Usage: npx pulumi-endpoints ${[name, lines.length > 0 && "[options]", takes].filter(Boolean).join(" ")}`;
  return [wrapText(about), usage, columns([...lines, ["--help", "this text"]]), notes && wrapText(notes)]
    .filter((part) => part)
    .map((part) => `${part}\n`)
    .join("\n");
}
