import { stripVTControlCharacters, styleText } from "node:util";
import { count } from "../command";
import type { AccountReport, DriftedEndpoint, DriftReport, StackReport, UnmanagedEndpoint } from "./report";
import {
  accountName,
  causesOf,
  commonCauses,
  createdForText,
  elsewhereText,
  findings,
  headline,
  isClean,
  orphansText,
  seenText,
  sharedText,
  shownSides,
  sorted,
  undeployedText,
  unmanagedText,
  unusedIgnoreText,
  visible,
} from "./wording";

interface TextOptions {
  /** The most columns of a table. */
  width: number;
  color: boolean;
}

/** More stacks without findings share a line. */
const MOST_CLEAN = 3;

/** The most unmanaged endpoints. The JSON has all. */
const MOST_UNMANAGED = 20;

const paint = (style: "bold" | "red" | "green" | "yellow", text: string) =>
  styleText(style, text, { validateStream: false });

/** The report for a terminal. Its last line is the outcome. */
export function reportText(report: DriftReport, { width, color }: TextOptions): string {
  const { common, own } = commonCauses(sorted(report.stacks));
  const clean = report.stacks.filter(isClean);
  const folded = clean.length > MOST_CLEAN ? clean : [];
  const blocks = [
    ...own.filter((stack) => !isClean(stack)).map((stack) => stackLines(stack, width)),
    uncheckedLines(common),
    ...(folded.length > 0 ? [] : clean.map((stack) => stackLines(stack, width))),
    folded.length > 0 ? [paint("bold", `${count(folded.length, "other stack")}: ${findings(folded)}`)] : [],
    report.shared.map((each) => `${paint("red", "shared")} ${sharedText(each)}`),
    ...report.accounts.map(accountLines),
    report.unusedIgnores.map((entry) => `${paint("yellow", "unused")} ${unusedIgnoreText(entry)}`),
  ];
  const style = {
    none: "green",
    repaired: "green",
    drift: "red",
    unrepaired: "red",
    unchecked: "yellow",
    undeployed: "yellow",
  } as const;
  const last = paint(style[report.outcome], `${headline(report)}.`);
  const filled = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  const text = [...filled, last].join("\n\n");
  // Quoted values have no control characters any more, so this removes only the colours.
  return color ? text : stripVTControlCharacters(text);
}

function stackLines(stack: StackReport, width: number): string[] {
  const { name, drifted, unchecked, undeployed } = stack;
  return [
    paint("bold", `Stack ${visible(name)}: ${findings([stack])}`),
    ...(undeployed === undefined ? [] : [`  ${paint("yellow", "undeployed")} ${undeployedText(undeployed)}`]),
    ...drifted.flatMap((each) => ["", ...endpointLines(each, width)]),
    ...uncheckedLines(causesOf(unchecked)),
  ];
}

function endpointLines(endpoint: DriftedEndpoint, width: number): string[] {
  const { name, url, id, drift, repair } = endpoint;
  const where = (url === undefined ? [id] : [url, id]).map((text) => visible(text)).join(", ");
  const lines = changeLines(endpoint, width - 4);
  if (repair?.done) lines.push(paint("green", "repaired"));
  else if (repair) lines.push(paint("red", `not repaired: ${visible(repair.reason ?? "", 2000)}`));
  return [
    `  ${paint("red", drift)} ${paint("bold", visible(name))} (${where})${seenText(endpoint)
      .map((text) => `, ${text}`)
      .join("")}`,
    ...lines.map((line) => `    ${line}`),
  ];
}

/** A table if it fits, else a line for each side. */
function changeLines({ changes }: DriftedEndpoint, width: number): string[] {
  if (changes.length === 0) return [];
  const rows = changes.map((change) => {
    const { expected, live } = shownSides(change, 160);
    return [visible(change.path), expected ?? "(nothing)", live ?? "(nothing)"] as const;
  });
  const table = [["field", "should be", "is"] as const, ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  if (widths.reduce((sum, one) => sum + one + 2, 0) <= width)
    return table.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  return rows.flatMap(([path, expected, live]) => [path, `  should be  ${expected}`, `  is         ${live}`]);
}

function accountLines(account: AccountReport): string[] {
  const { endpoints, unmanaged, others, unchecked } = account;
  const elsewhere = elsewhereText(account);
  if (unmanaged.length === 0 && elsewhere === undefined && unchecked.length === 0) return [];
  const orphans = orphansText(account);
  return [
    paint("bold", accountName(account) + (endpoints > 0 ? `: ${unmanagedText(account)}` : "")),
    ...unmanagedLines(unmanaged),
    ...(orphans === undefined ? [] : [`  ${orphans}`]),
    ...(elsewhere === undefined ? [] : [`  ${elsewhere}${others.length > 0 ? ":" : "."}`]),
    ...unmanagedLines(others),
    ...uncheckedLines(causesOf(unchecked)),
  ];
}

function unmanagedLines(endpoints: UnmanagedEndpoint[]): string[] {
  const lines = endpoints.slice(0, MOST_UNMANAGED).map((endpoint) => {
    const { id, url = "without a URL", description, createdAt, createdFor } = endpoint;
    const words = [
      ...[id, url],
      ...(description ? [JSON.stringify(description)] : []),
      ...(createdAt ? [`created ${createdAt.slice(0, 10)}`] : []),
      ...seenText(endpoint),
      ...(createdFor ? [createdForText(endpoint)] : []),
    ];
    return `  ${words.map((word) => visible(word)).join("  ")}`;
  });
  const more = endpoints.length - MOST_UNMANAGED;
  return more > 0 ? [...lines, `  and ${more} more, which --json and --html list`] : lines;
}

function uncheckedLines(causes: ReturnType<typeof causesOf>): string[] {
  return causes.map(
    ({ what, reason }) => `  ${paint("yellow", "unchecked")} ${visible(what)}: ${visible(reason, 2000)}`,
  );
}
