import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { STANDARD_STREAM } from "../io";
import { type Option, UsageError } from "./command";

export { inputBytes, readText, STANDARD_STREAM, writeResult, writeText } from "../io";

/* What options take: numbers, files and streams. */

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new UsageError(`takes a whole number from ${least} to ${most}`);
  };

export const port = wholeNumber(0, 65_535);

/** A file that the command can write. */
export function outputFile(file: string): string {
  if (file === STANDARD_STREAM) throw new UsageError("takes the name of a file");
  if (!statSync(dirname(resolve(file)), { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`names ${file}, which is in a folder that does not exist`);
  const target = statSync(file, { throwIfNoEntry: false });
  if (target?.isDirectory()) throw new UsageError(`takes a file, and ${file} is a folder`);
  return file;
}

/** The option `--json`, which is the same in all commands. */
export const JSON_OPTION = {
  value: "F",
  help: "write the result as JSON to this file; - prints it instead of the text",
  parse: (file: string) => (file === STANDARD_STREAM ? file : outputFile(file)),
} as const satisfies Option;
