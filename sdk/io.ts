import { readFileSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { PIPELINE_COMMAND } from "../provider/data/text";
import { messageOf, UserError } from "../provider/data/userError";

/* The files, streams and exit codes of commands. */

/** Exit codes. `unread` is a shell's code for SIGPIPE. */
export const EXIT = { done: 0, failed: 1, usage: 2, findings: 7, unread: 141 } as const;

export interface Terminal {
  write(text: string): unknown;
}

export interface Streams {
  stdout: Terminal;
  stderr: Terminal;
}

export interface CommandIo extends Streams {
  /** Writes a line to stderr: to the terminal, or to the log of a pipeline. */
  log: (line: string) => void;
  /** The program and the command, which errors begin with: `pulumi-endpoints check-policy`. */
  name: string;
}

export const STANDARD_STREAM = "-";

/** Prints the result as text. `--json` with a file also writes JSON there; `--json -` prints JSON in place of the text. */
export function writeResult(
  result: object,
  text: string,
  json: string | undefined,
  stdout: Terminal,
  indent = 2,
): void {
  const asJson = `${withEscapes(JSON.stringify(result, undefined, indent))}\n`;
  stdout.write(json === STANDARD_STREAM ? asJson : text);
  if (json !== undefined && json !== STANDARD_STREAM) writeText(json, asJson);
}

/** Writes the text of a file. @throws UserError with a sentence about the file */
export function writeText(
  file: string,
  text: string,
  options: { isNew?: boolean; mode?: number } = {},
): void {
  const { isNew = false, mode = 0o666 } = options;
  try {
    writeFileSync(file, text, { flag: isNew ? "wx" : "w", mode });
  } catch (error) {
    throw new UserError(`${file} cannot be written: ${whyNotWritten(error)}`, { cause: error });
  }
}

/** JSON with escapes for characters that control a terminal or a pipeline. The data does not change. */
const withEscapes = (json: string) =>
  json.replace(PIPELINE_COMMAND, "\\u0023").replace(/[\x7f-\x9f\p{Cf}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

/** The text of a file. @throws Failure with a sentence about the file */
export const readText = (file: string, Failure?: typeof UserError): string =>
  textOf(readBytes(file, Failure));

function readBytes(file: string, Failure: typeof UserError = UserError): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "";
    const reasons: Record<string, string> = { ENOENT: "does not exist", EISDIR: "is a folder" };
    throw new Failure(`${file} ${reasons[code] ?? `cannot be read (${code})`}`, { cause: error });
  }
}

/** The bytes of a file, or of the standard input. @throws Failure with a sentence about the file */
export const inputBytes = async (file: string, Failure?: typeof UserError): Promise<Buffer> =>
  file === STANDARD_STREAM ? await buffer(process.stdin) : readBytes(file, Failure);

/** The text of a file, or of the standard input. @throws Failure with a sentence about the file */
export const inputText = async (file: string, Failure?: typeof UserError): Promise<string> =>
  textOf(await inputBytes(file, Failure));

const textOf = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\ufeff/, "");

/** Ends this process if nobody can read its output. */
export function endIfUnread(program: string): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader closed the pipe, as `head` does.
    if (error.code === "EPIPE") process.exit(EXIT.unread);
    process.stderr.write(`${program}: the output cannot be written: ${whyNotWritten(error)}\n`);
    process.exit(EXIT.failed);
  });
}

/** Why a file or stream cannot be written, for the end of a sentence. */
function whyNotWritten(error: unknown): string {
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
