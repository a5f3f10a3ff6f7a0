import { styleText } from "node:util";
import { count, type Terminal } from "../command";
import type { AccountReport, DriftedEndpoint, DriftReport, NotChecked, Repair, StackReport } from "./report";
import {
  accountName,
  causesOf,
  comparison,
  headline,
  incompleteText,
  sharedText,
  shownSides,
  visible,
} from "./wording";

interface TextOptions {
  /** How many columns a table may take. */
  width: number;
  color: boolean;
}

type Style = "bold" | "red" | "green" | "yellow" | "dim";

/** The report for a terminal. Its last line is the outcome. */
export function reportText(report: DriftReport, { width, color }: TextOptions): string {
  const paint = (style: Style, text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const blocks = [
    ...report.stacks.map((stack) => stackLines(stack, width, paint)),
    ...report.accounts.map((account) => accountLines(account, paint)),
    report.shared.map((each) => `${paint("red", "shared")} ${sharedText(each)}`),
  ];
  const style = {
    none: "green",
    repaired: "green",
    drift: "red",
    unrepaired: "red",
    unseen: "yellow",
    incomplete: "yellow",
  } as const;
  const last = paint(style[report.outcome], `${headline(report)}.`);
  return [...blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")), last].join("\n\n");
}

type Paint = (style: Style, text: string) => string;

function stackLines(stack: StackReport, width: number, paint: Paint): string[] {
  const { name, endpoints, drifted, unseen, incomplete } = stack;
  const some = drifted.length === 0 ? [] : [`${drifted.length} drifted`];
  const partly = comparison([stack]);
  const found =
    partly === undefined
      ? `${some[0] ?? (incomplete === undefined ? "no drift" : "no difference from its state")} in ${count(endpoints, "cloud endpoint")}`
      : [...some, partly].join(", ");
  return [
    paint("bold", `Stack ${visible(name)}: ${found}`),
    ...(incomplete === undefined ? [] : [`  ${paint("yellow", "incomplete")} ${incompleteText(incomplete)}`]),
    ...drifted.flatMap((each) => ["", ...endpointLines(each, width, paint)]),
    ...notCheckedLines(unseen, paint),
  ];
}

function endpointLines(endpoint: DriftedEndpoint, width: number, paint: Paint): string[] {
  const { name, url, id, drift, repair } = endpoint;
  const where = [url, id].flatMap((text) => (text === undefined ? [] : [visible(text)])).join(", ");
  return [
    `  ${paint("red", drift)} ${paint("bold", visible(name))} (${where})`,
    ...changeLines(endpoint, width - 4).map((line) => `    ${line}`),
    ...(repair ? [`    ${repairText(repair, paint)}`] : []),
  ];
}

function repairText({ done, reason }: Repair, paint: Paint): string {
  return done ? paint("green", "repaired") : paint("red", `not repaired: ${visible(reason ?? "", 2000)}`);
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

function accountLines(
  { service, stacks, endpoints, unmanaged, unseen }: AccountReport,
  paint: Paint,
): string[] {
  if (unmanaged.length === 0 && unseen.length === 0) return [];
  const account = accountName({ service, stacks });
  const found = `${unmanaged.length} of ${count(endpoints, "cloud endpoint")} managed by none of the given stacks`;
  return [
    paint("bold", endpoints > 0 ? `${account}: ${found}` : account),
    ...unmanaged.map(({ id, url, description, createdAt, createdFor }) => {
      const words = [
        description && JSON.stringify(description),
        createdAt && `created ${createdAt.slice(0, 10)}`,
        createdFor && `for ${createdFor}`,
      ];
      const about = words
        .filter((word) => word !== undefined && word !== "")
        .map((word) => visible(String(word)));
      return `  ${[visible(id), visible(url ?? "without a URL"), ...about].join("  ")}`;
    }),
    ...notCheckedLines(unseen, paint),
  ];
}

function notCheckedLines(notChecked: NotChecked[], paint: Paint): string[] {
  return causesOf(notChecked).map(
    ({ what, reason }) =>
      `  ${paint("yellow", "could not check")} ${visible(what)}: ${visible(reason, 2000)}`,
  );
}

/** Shows progress: on a terminal in one line that is overwritten, elsewhere and in CI in a line for each message. */
export class Progress {
  private last = "";

  constructor(
    private readonly out: Terminal,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  readonly log = (message: string): void => {
    const line = visible(message);
    if (line === this.last) return;
    this.last = line;
    if (this.isLive) this.out.write(`\r\u001b[2K${line.slice(0, (this.out.columns ?? 80) - 1)}`);
    // A rising count would fill a log.
    else if (!/ compared \d+ of \d+$/.test(line)) this.out.write(`${line}\n`);
  };

  /** Clears the line. */
  end(): void {
    if (this.isLive && this.last !== "") this.out.write("\r\u001b[2K");
    this.last = "";
  }

  private get isLive(): boolean {
    const { CI, TERM } = this.env;
    return this.out.isTTY === true && TERM !== "dumb" && (CI === undefined || CI === "" || CI === "false");
  }
}
