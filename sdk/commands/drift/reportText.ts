import { stripVTControlCharacters, styleText } from "node:util";
import { escaped } from "../../../provider/api/text";
import { MASKED } from "../../../provider/endpoint/secrets";
import { count, grouped } from "../command";
import type { Ignored } from "../projects";
import {
  type AccountReport,
  allDrifted,
  allUnchecked,
  BROKEN,
  countUnmanaged,
  type DriftedEndpoint,
  type DriftReport,
  type FieldChange,
  type SharedEndpoint,
  type StackReport,
  type Unchecked,
  type UnmanagedEndpoint,
} from "./report";

/*
 * The report as text, and the sentences that the page shares. Values come from other people. Invisible characters become
 * escapes, so that they can neither control a terminal or a pipeline nor hide a difference.
 */

interface TextOptions {
  /** The most columns of a table. */
  width: number;
  color: boolean;
}

/** More stacks without findings share a line. */
const MOST_CLEAN = 3;

/** The most unmanaged endpoints. The JSON has all. */
const MOST_UNMANAGED = 20;

/** The word before the page's headline (undefined if the headline has it), and the style of the outcome. */
export const OUTCOMES = {
  none: [undefined, "good"],
  repaired: ["Repaired", "good"],
  drift: ["Drift", "bad"],
  unrepaired: ["Not repaired", "bad"],
  unchecked: ["Unchecked", "unsure"],
  undeployed: ["Undeployed", "unsure"],
} as const;

const paint = (style: "bold" | "red" | "green" | "yellow", text: string) =>
  styleText(style, text, { validateStream: false });

/** The report for a terminal. Its last line is the outcome. */
export function reportText(report: DriftReport, { width, color }: TextOptions): string {
  const { common, ownCauses } = commonCauses(report.stacks);
  const clean = report.stacks.filter(isClean);
  const isFolded = clean.length > MOST_CLEAN;
  const linesOf = (stack: StackReport) => stackLines(stack, ownCauses(stack), width);
  // Of a stack that has nothing but a common cause, the line of that cause says everything.
  const withFindings = sorted(report.stacks).filter(
    (stack) => stack.drifted.length > 0 || stack.undeployed !== undefined || ownCauses(stack).length > 0,
  );
  const others = count(clean.length, clean.length < report.stacks.length ? "other stack" : "stack");
  const blocks = [
    ...withFindings.map(linesOf),
    uncheckedLines(common),
    ...(isFolded ? [[paint("bold", `${others}: ${findings(clean)}`)]] : clean.map(linesOf)),
    report.shared.map((each) => `${paint("red", "shared")} ${sharedText(each)}`),
    ...report.accounts.map((account) => accountLines(account, report)),
    report.unusedIgnores.map((entry) => `${paint("yellow", "unused")} ${unusedIgnoreText(entry)}`),
  ];
  const style = { good: "green", bad: "red", unsure: "yellow" } as const;
  const last = paint(style[OUTCOMES[report.outcome][1]], `${headline(report)}.`);
  const filled = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  const text = [...filled, last].join("\n\n");
  // Quoted values have no control characters any more, so this removes only the colours.
  return color ? text : stripVTControlCharacters(text);
}

function stackLines(stack: StackReport, causes: Cause[], width: number): string[] {
  const { name, drifted, undeployed } = stack;
  return [
    paint("bold", `Stack ${visible(name)}: ${findings([stack])}`),
    ...(undeployed === undefined ? [] : [`  ${paint("yellow", "undeployed")} ${undeployedText(undeployed)}`]),
    ...drifted.flatMap((each) => ["", ...endpointLines(each, width)]),
    ...uncheckedLines(causes),
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

function accountLines(account: AccountReport, report: DriftReport): string[] {
  const { endpoints, unmanaged, others, unchecked } = account;
  const elsewhere = elsewhereText(account);
  if (unmanaged.length === 0 && elsewhere === undefined && unchecked.length === 0) return [];
  return [
    paint("bold", accountName(account) + (endpoints > 0 ? `: ${unmanagedText(account)}` : "")),
    ...(unmanaged.length > 0 ? [`  ${UNMANAGED_REMEDY}`] : []),
    ...unmanagedLines(unmanaged, report),
    ...(elsewhere === undefined ? [] : [`  ${elsewhere}${others.length > 0 ? ":" : "."}`]),
    ...unmanagedLines(others, report),
    ...uncheckedLines(causesOf(unchecked)),
  ];
}

function unmanagedLines(endpoints: UnmanagedEndpoint[], report: DriftReport): string[] {
  const lines = endpoints.slice(0, MOST_UNMANAGED).flatMap((endpoint) => {
    const { id, url = "without a URL", description, createdAt, createdFor, deleteCommand } = endpoint;
    const words = [
      ...[id, url],
      ...(description ? [JSON.stringify(description)] : []),
      ...(createdAt ? [`created ${createdAt.slice(0, 10)}, ${ageText(createdAt, report)}`] : []),
      ...seenText(endpoint),
      ...(createdFor ? [`for ${createdFor}`] : []),
    ];
    const line = `  ${words.map((word) => visible(word)).join("  ")}`;
    return deleteCommand === undefined ? [line] : [line, `    ${visible(deleteCommand, 2000)}`];
  });
  const more = endpoints.length - MOST_UNMANAGED;
  return more > 0 ? [...lines, `  and ${more} more, which --json and --html list`] : lines;
}

function uncheckedLines(causes: Cause[]): string[] {
  return causes.map(
    ({ what, reason }) => `  ${paint("yellow", "unchecked")} ${visible(what)}: ${visible(reason, 2000)}`,
  );
}

/** The most names for one cause. */
const MOST_NAMES = 3;

export type Cause = Pick<Unchecked, "what" | "reason">;

/** Reasons that differ only in ids are one cause. */
const causeOf = (reason: string) => reason.replaceAll(/ep_\w+/g, "");

/** Everything unchecked, grouped by cause. */
export function causesOf(unchecked: readonly Unchecked[]): Cause[] {
  const causes = grouped(unchecked, ({ reason }) => causeOf(reason));
  return [...causes.values()].map((all) => ({
    what: firstNames(all.map(({ what }) => what)),
    reason: all[0]?.reason ?? "",
  }));
}

function firstNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** A report with findings first: drift, then what could not be compared or is undeployed, then the rest. */
export function sorted(stacks: readonly StackReport[]): StackReport[] {
  const rank = ({ drifted, unchecked, undeployed }: StackReport) =>
    drifted.length > 0 ? 0 : unchecked.length > 0 || undeployed !== undefined ? 1 : 2;
  return [...stacks].sort((a, b) => rank(a) - rank(b));
}

/** Whether a stack has nothing to report. */
export const isClean = ({ drifted, unchecked, undeployed }: StackReport): boolean =>
  drifted.length === 0 && unchecked.length === 0 && undeployed === undefined;

/** The causes that several stacks share, each told once, and a function that returns a stack's other causes. */
export function commonCauses(stacks: readonly StackReport[]): {
  common: Cause[];
  ownCauses(stack: StackReport): Cause[];
} {
  const all = stacks.flatMap(({ name, unchecked }) => unchecked.map(({ reason }) => ({ name, reason })));
  const common = new Map<string, Cause>();
  for (const [cause, each] of grouped(all, ({ reason }) => causeOf(reason))) {
    const names = [...new Set(each.map(({ name }) => name))];
    if (names.length > 1)
      common.set(cause, {
        what: `${count(names.length, "stack")}: ${firstNames(names)}`,
        reason: each[0]?.reason ?? "",
      });
  }
  return {
    common: [...common.values()],
    ownCauses: ({ unchecked }) => causesOf(unchecked.filter(({ reason }) => !common.has(causeOf(reason)))),
  };
}

/** The outcome in one line, for a title and for the last line of a log. */
export function headline(report: DriftReport): string {
  const { stacks, shared, fix } = report;
  const drifted = allDrifted(report);
  const repaired = drifted.filter(({ repair }) => repair?.done).length;
  const unmanaged = countUnmanaged(report);
  const isFailing = report.failOnUnmanaged && unmanaged > 0;
  const counted = (number: number, text: string) => (number > 0 ? [text] : []);
  const undeployed = stacks.filter((stack) => stack.undeployed !== undefined).length;
  const unchecked = allUnchecked(report).length;
  const parts = [
    ...(isFailing ? [`${unmanaged} unmanaged, which counts as drift`] : []),
    findings(stacks, { isFailing: isFailing || shared.length > 0 }),
    ...counted(undeployed, `${count(undeployed, "stack")} undeployed`),
    ...counted(fix ? drifted.length : 0, `${repaired} repaired`),
    ...counted(fix ? drifted.length - repaired : 0, `${drifted.length - repaired} not repaired`),
    ...counted(isFailing ? 0 : unmanaged, `${unmanaged} unmanaged`),
    ...counted(shared.length, `${count(shared.length, "endpoint")} of more than one resource`),
    ...counted(unchecked, `${unchecked} unchecked`),
  ];
  return capital(parts.join(", "));
}

/** The numbers of drifted and compared endpoints of these stacks. It reports no drift only if all were compared. */
export function findings(stacks: StackReport[], { isFailing } = { isFailing: false }): string {
  const drifted = stacks.flatMap((stack) => stack.drifted);
  const kinds = (["changed", "deleted"] as const).flatMap((kind) => {
    const some = drifted.filter(({ drift }) => drift === kind).length;
    return some > 0 ? [`${some} ${kind}`] : [];
  });
  const total = sumOf(stacks, "endpoints");
  const all = count(total, "cloud endpoint");
  const parts = drifted.length > 0 ? [`${drifted.length} of ${all} drifted (${kinds.join(", ")})`] : [];
  const compared = sumOf(stacks, "compared");
  if (compared < total || stacks.some(isUnread))
    parts.push(
      total === 0
        ? "nothing compared"
        : `${compared} of ${stacks.some(isUnread) ? "at least " : ""}${all} compared`,
    );
  if (parts.length > 0) return parts.join(", ");
  const isSure = !isFailing && stacks.every(({ undeployed }) => undeployed === undefined);
  return isSure ? `no drift in ${all}` : `none of ${all} drifted`;
}

/** A line about a stack whose state may not match the program. */
export const undeployedText = (reason: string): string =>
  `${visible(reason)}. The state may not match the program: review \`pulumi preview\`, then run \`pulumi up\`.`;

/** A line about an endpoint of several resources. */
export function sharedText({ id, resources }: SharedEndpoint): string {
  const where = resources
    .map(({ stack, name }) => `${visible(name)} (stack ${visible(stack)})`)
    .join(" and ");
  const stacks = new Set(resources.map(({ stack }) => visible(stack)));
  const commands = resources.map(
    ({ stack, urn }) =>
      `\`pulumi state delete '${visible(urn, 2000)}' --stack ${visible(stack.split("/").at(-1) ?? "")}\``,
  );
  const folder = stacks.size > 1 ? " in the folder of its project" : "";
  const remedy = `Keep one, and run one of these for the other${folder}: ${commands.join(" or ")}. This leaves the endpoint as it is. Then take that resource out of the program.`;
  return `${visible(id)} belongs to ${where}, so each undoes the other's changes, and deleting one deletes the endpoint for both. ${remedy}`;
}

/** Whether the number of its endpoints is unknown. */
const isUnread = ({ endpoints, unchecked }: StackReport) => endpoints === 0 && unchecked.length > 0;

const sumOf = (stacks: StackReport[], field: "endpoints" | "compared"): number =>
  stacks.reduce((sum, stack) => sum + stack[field], 0);

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A line about the unmanaged endpoints of an account. */
export function unmanagedText({ endpoints, unmanaged: { length } }: AccountReport): string {
  const all = count(endpoints, "cloud endpoint");
  return length === 0 ? `no unmanaged endpoint was found among ${all}` : `${length} of ${all} unmanaged`;
}

/** A line about what is left out of the unmanaged endpoints of an account; undefined if nothing is. */
export function elsewhereText({ known, others, ignored }: AccountReport): string | undefined {
  const parts = [
    ...(known > 0 ? [`${known} managed by the known stacks`] : []),
    ...(others.length > 0 ? [`${others.length} marked for other projects`] : []),
    ...(ignored.length > 0 ? [`${ignored.length} ignored`] : []),
  ];
  return parts.length > 0 ? `Besides: ${parts.join(", ")}` : undefined;
}

/** A line about an entry of `--ignore` that can be removed. */
export const unusedIgnoreText = ({ reason, ...conditions }: Ignored): string =>
  `${visible(JSON.stringify(conditions))} (${visible(reason)}) matches no endpoint any more: remove it from the list of ignored endpoints`;

/** When an endpoint was last changed, and who owns it. */
export const seenText = ({
  updatedAt,
  principal,
}: {
  updatedAt?: string | undefined;
  principal?: string | undefined;
}): string[] => [
  ...(updatedAt === undefined ? [] : [`changed ${updatedAt.slice(0, 16).replace("T", " ")} UTC`]),
  ...(principal === undefined ? [] : [`owned by ${visible(principal)}`]),
];

/** What a person can do about the endpoints that no state has. This package never deletes them. */
export const UNMANAGED_REMEDY =
  'No state that was read has these endpoints. First check that no other stack has the endpoint, in this backend or in any other. Then take it over with adopt: "ep_…" for one `pulumi up`, or delete it with its curl line.';

const UNITS = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
] as const;

/** How long before a check an endpoint was created. */
export function ageText(createdAt: string, { startedAt }: Pick<DriftReport, "startedAt">): string {
  const age = Math.max(0, Date.parse(startedAt) - Date.parse(createdAt));
  const [size, unit] = UNITS.find(([size]) => age >= size) ?? UNITS[2];
  return `${count(Math.floor(age / size), unit)} ago`;
}

export function accountName({ service, stacks }: Pick<AccountReport, "service" | "stacks">): string {
  const at = service === undefined ? "" : ` at ${visible(service)}`;
  return `Account of ${stacks.map((name) => visible(name)).join(", ")}${at}`;
}

/** The number of characters before the first difference of two long texts. */
const CONTEXT = 24;

/** A name, a URL or a message on one line. */
export function visible(text: string, most = 300): string {
  return cut(escaped(text), most);
}

/** Both sides of a change as JSON; undefined for a side without a value. Of long values, only the part around the difference. */
export function shownSides(
  { expected, live }: FieldChange,
  most: number,
): { expected: string | undefined; live: string | undefined } {
  const [a, b] = [sideText(expected), sideText(live)];
  if (a === undefined || b === undefined || (a.length <= most && b.length <= most))
    return { expected: a && cut(a, most), live: b && cut(b, most) };
  const from = Math.max(0, samePrefix(a, b) - CONTEXT);
  const part = (text: string) => (from > 0 ? "…" : "") + cut(text.slice(from), most);
  return { expected: part(a), live: part(b) };
}

/** As JSON, so that the text `"true"` differs from the value `true`. A placeholder has no quotes. */
function sideText(side: FieldChange["live"]): string | undefined {
  if (side === undefined) return undefined;
  return side === MASKED || side === BROKEN ? side : escaped(JSON.stringify(side));
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : text;
}

function samePrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
