import { styleText } from "node:util";
import { table } from "../text";

import type { DriftReport } from "./report";
import { CHANGE_HEADINGS, type Item, type Mood, type Section, viewOf } from "./reportView";

interface TextOptions {
  /** The most columns of a table. */
  width: number;
  color: boolean;
}

const COLORS = { good: "green", bad: "red", unsure: "yellow" } as const;

/** The report for a terminal. Its last line is the outcome. */
export function reportText(report: DriftReport, { width, color }: TextOptions): string {
  const paint = (style: Mood | "bold" | undefined, text: string) =>
    color && style
      ? styleText(style === "bold" ? style : COLORS[style], text, { validateStream: false })
      : text;

  const sectionLines = ({ title, summary, remedy, items, isFolded }: Section): string[] => {
    const head = paint("bold", summary === undefined ? title : `${title}: ${summary}`);
    if (isFolded) return [`${head} (listed in --json and --html)`];
    return [head, ...(remedy ? [`  ${remedy}`] : []), ...items.flatMap(itemLines)];
  };

  const itemLines = ({ word, mood, name, facts, text, changes = [], command }: Item): string[] => {
    const subject = [name && paint("bold", name), facts && `(${facts.join(", ")})`].filter(Boolean).join(" ");
    const said = [subject, text].filter(Boolean).join(": ");
    const details = [...changeLines(changes), ...(command ? [command] : [])];
    return [`  ${paint(mood, word ?? "")} ${said}`, ...details.map((line) => `    ${line}`)];
  };

  /** A table if it fits, else a line for each side. */
  const changeLines = (changes: NonNullable<Item["changes"]>): string[] => {
    const lines = changes.length > 0 ? table([CHANGE_HEADINGS, ...changes]) : [];
    if (lines.every((line) => line.length <= width - 4)) return lines;
    return changes.flatMap(([path, expected, live]) => [
      path,
      `  should be  ${expected}`,
      `  is         ${live}`,
    ]);
  };

  const { mood, headline, sections } = viewOf(report);
  return [...sections.map((each) => sectionLines(each).join("\n")), paint(mood, `${headline}.`)].join("\n\n");
}
