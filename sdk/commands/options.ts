import { UsageError } from "./command";

export {
  inputText,
  JSON_OPTION,
  outputFile,
  readText,
  STANDARD_STREAM,
  writeResult,
  writeText,
} from "../traffic-policy/index";

/* What options take: numbers, files and streams. */

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new UsageError(`takes a whole number from ${least} to ${most}`);
  };

export const port = wholeNumber(0, 65_535);
