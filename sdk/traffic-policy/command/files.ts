import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { PIPELINE_COMMAND } from "../data/text";
import { UserError } from "../data/userError";
import { type Option, type Terminal, UsageError, whyNotWritten } from "./frame";

/* The files and streams of commands. */

export const STANDARD_STREAM = "-";

/** A file that the command can write. */
export function outputFile(file: string): string {
  if (file === STANDARD_STREAM) throw new UsageError("takes the name of a file");
  if (!statSync(dirname(resolve(file)), { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`names ${file}, which is in a folder that does not exist`);
  const target = statSync(file, { throwIfNoEntry: false });
  if (target?.isDirectory()) throw new UsageError(`takes a file, and ${file} is a folder`);
  return file;
}

/** The same option of all commands that have a result for programs. */
export const JSON_OPTION = {
  value: "F",
  help: "write the result as JSON to this file; - prints it instead of the text",
  parse: (file: string) => (file === STANDARD_STREAM ? file : outputFile(file)),
} as const satisfies Option;

/** Writes the result as text, as JSON to the file of `--json`, or as JSON in place of the text. */
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

/** JSON that controls no terminal and no pipeline: in JSON, an escape is the same text. */
const withEscapes = (json: string) =>
  json.replace(PIPELINE_COMMAND, "\\u0023").replace(/[\x7f-\x9f\p{Cf}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

/** The text of a file. @throws Failure with a sentence about the file */
export function readText(file: string, Failure: typeof UserError = UserError): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "";
    const reasons: Record<string, string> = { ENOENT: "does not exist", EISDIR: "is a folder" };
    throw new Failure(`${file} ${reasons[code] ?? `cannot be read (${code})`}`, { cause: error });
  }
}

/** The text of a file, or of the standard input. @throws Failure with a sentence about the file */
export const inputText = async (file: string, Failure?: typeof UserError): Promise<string> =>
  file === STANDARD_STREAM ? (await textOf(process.stdin)).replace(/^\ufeff/, "") : readText(file, Failure);
