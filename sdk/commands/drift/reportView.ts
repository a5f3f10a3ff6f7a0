import { escaped } from "../../../provider/data/index";
import { MASKED } from "../../../provider/endpoint/secretSearch";
import { see } from "../../../provider/service/headings";
import { shownName } from "../stackNames";
import { count, groupBy } from "../text";
import { previewLine, takeOverLines } from "./recovery";
import {
  type AccountReport,
  allUnchecked,
  countUnmanaged,
  type DriftedEndpoint,
  type DriftReport,
  type FieldChange,
  INVALID_POLICY,
  membersOf,
  type OtherStacks,
  type PendingCreateReport,
  type SharedEndpoint,
  type StackReport,
  type UnmanagedEndpoint,
} from "./report";

/* The sections and rows of a report, which the text and the page print. */

type Mood = "good" | "bad" | "unsure";

/** One finding. */
export interface Item {
  /** The kind of finding: `changed`, `unchecked`. */
  word: string;
  mood: Mood;
  /** What it is about. */
  subject: string;
  text?: string;
  changes?: [path: string, expected: string, live: string][];
  /** Lines to run or to paste. */
  lines?: { line: string }[];
}

export interface Section {
  title: string;
  summary?: string;
  remedy?: string;
  items: Item[];
}

interface View {
  mood: Mood;
  headline: string;
  sections: Section[];
}

const MOODS: Record<DriftReport["outcome"], Mood> = {
  none: "good",
  drift: "bad",
  unchecked: "unsure",
  undeployed: "unsure",
};

/** The most names in a list of names. */
const MAX_NAMES = 3;

/** The most characters of a value. */
const MAX_VALUE_LENGTH = 400;

/** The number of characters before the first difference of two long values. */
const CONTEXT = 24;

/**
 * What every form of the report shows. Other people write the values, so each text is made visible here: none can control a
 * terminal, a pipeline or a page, or hide a difference. A line to run is never cut.
 */
export function viewOf(report: DriftReport): View {
  const mood = MOODS[report.outcome];
  const view: View = { mood, headline: headline(report), sections: sectionsOf(report) };
  const shown = (key: string, text: string) => (key === "line" ? escaped(text) : visible(text));
  return JSON.parse(
    JSON.stringify(view, (key, each) => (typeof each === "string" ? shown(key, each) : each)),
  );
}

/** Foreign text on one line, of limited length. */
export const visible = (text: string): string => cut(escaped(text), 2000);

/** The most findings of a section in the text. Of unmanaged endpoints a few are enough, because somebody else's may be many. */
const MAX_ITEMS = 50;
const MAX_UNMANAGED = 5;

/** The report for a terminal. Its first line is the outcome, and its last one the line to run. */
export function reportText(report: DriftReport): string {
  const { headline, sections } = viewOf(report);
  return [`${headline}.`, ...sections.map(sectionText)].join("\n\n");
}

function sectionText({ title, summary, remedy, items }: Section): string {
  const isUnmanaged = ({ word }: Item) => word === UNMANAGED;
  const shown = items.filter((item, index) => index < (isUnmanaged(item) ? MAX_UNMANAGED : MAX_ITEMS));
  const more = items.length - shown.length;
  return [
    summary === undefined ? title : `${title}: ${summary}`,
    ...(remedy === undefined ? [] : [`  ${remedy}`]),
    ...shown.flatMap(itemLines),
    ...(more > 0 ? [`  and ${more} more: --json and --html list them`] : []),
  ].join("\n");
}

const itemLines = ({ word, subject, text, changes = [], lines = [] }: Item): string[] => [
  `  ${word} ${subject}${text === undefined ? "" : `: ${text}`}`,
  ...changes.map(([path, expected, live]) => `    ${path} should be ${expected}, is ${live}`),
  ...lines.map(({ line }) => `    ${line}`),
];

function sectionsOf(report: DriftReport): Section[] {
  const { stacks, accounts, shared, otherStacks } = report;
  const hasFinding = ({ drifted, undeployed }: StackReport) => drifted.length > 0 || undeployed !== undefined;
  const others = stacks.filter((stack) => !hasFinding(stack));
  const rest = { title: count(others.length, others.length < stacks.length ? "other stack" : "stack") };
  const sections: Section[] = [
    ...stacks.filter(hasFinding).map(sectionOf),
    ...(others.length > 1 ? [{ ...rest, summary: findings(others), items: [] }] : others.map(sectionOf)),
    { title: "Unchecked", items: causesOf(stacks, accounts) },
    { title: "Unread states", items: otherStacks.unread.map(unreadItem) },
    unreadStacks(otherStacks),
    { title: "Endpoints of more than one resource", items: shared.map(sharedItem) },
    ...accounts.map((account) => accountSection(account, otherStacks)),
    { title: "Next", items: nextItems(report) },
  ];
  return sections.filter(({ items, summary }) => items.length > 0 || summary !== undefined);
}

function sectionOf(stack: StackReport): Section {
  const { name, undeployed, drifted, pendingCreates } = stack;
  const sameFinding = ({ name: _, urn: __, ...finding }: PendingCreateReport) => JSON.stringify(finding);
  return {
    title: `Stack ${name}`,
    summary: findings([stack]),
    items: [
      ...(undeployed === undefined
        ? []
        : [{ word: "undeployed", mood: "unsure" as const, subject: undeployed }]),
      ...drifted.map(driftedItem),
      ...[...groupBy(pendingCreates, sameFinding).values()].map(pendingItem),
    ],
  };
}

/** Pending creates with the same finding, such as those of one pool. */
function pendingItem(same: readonly PendingCreateReport[]): Item {
  const [first] = same;
  const { url, replaces, pool, left, ignored = [], managed = [], alsoCreating = [] } = { ...first };
  const old =
    left === undefined ? "is unchecked" : left.includes(replaces ?? "") ? "still exists" : "was deleted";
  const strays = (left ?? []).filter((id) => id !== replaces);
  const isFree = left?.length === 0 && ignored.length === 0;
  const texts = [
    replaces !== undefined && `its replacement was not created, and its old endpoint ${old}`,
    !left && "what is on its URL is unchecked",
    strays.length > 0 && `no state that was read has ${strays.join(", ")} on its URL`,
    ignored.length > 0 && `a rule of \`ignore\` names ${ignored.join(", ")} on its URL`,
    isFree && managed.length > 0 && `a state that was read has ${managed.join(", ")} on its URL`,
    alsoCreating.length > 0 && `${alsoCreating.join(", ")} may have created an endpoint there, too`,
    isFree &&
      managed.length + alsoCreating.length === 0 &&
      `nothing is left on ${url}${pool ? "" : ": `pulumi up` creates it"}`,
  ];
  return {
    ...{ word: "pending", mood: "unsure" },
    subject: withFacts(same.map(({ name }) => name).join(", "), [url, replaces]),
    text: texts.filter(Boolean).join("; "),
  };
}

/** What to run, for each stack, and at last for what a lost state had. */
function nextItems(report: DriftReport): Item[] {
  const next = (subject: string, text: string, ...lines: (string | undefined)[]): Item => ({
    ...{ word: "next", mood: "unsure", subject, text },
    lines: lines.flatMap((line) => (line === undefined ? [] : [{ line }])),
  });
  const ofStack = (stack: StackReport): Item[] => {
    const { name, undeployed, recovery, repair } = stack;
    if (recovery) return [next(name, recovery.text, recovery.command)];
    if (undeployed !== undefined) return [next(name, SEE_FIRST, previewLine(stack))];
    return repair === undefined ? [] : [next(name, REPAIRS, repair)];
  };
  const ofAccount = (account: AccountReport): Item[] => {
    const lines = takeOverLines(account, report);
    return lines.length === 0 ? [] : [next(accountName(account), TAKES_OVER, ...lines)];
  };
  const withMembers = report.accounts.filter(({ unmanaged }) => unmanaged.some(({ pool }) => pool));
  return [
    ...withMembers.map((account) => next(accountName(account), FREE_MEMBERS)),
    ...report.stacks.flatMap(ofStack),
    ...report.accounts.flatMap(ofAccount),
  ];
}

const REPAIRS =
  "the line puts the drift back. Run it in the folder of the project. It stops at the preview if the program is not the one that was deployed";
const SEE_FIRST = "see what `pulumi up` would do";
const FREE_MEMBERS = `decide first about the members of pools that no state has: \`pulumi up\` takes over none, and adds others. ${see("Adopt members of a pool")}`;
const TAKES_OVER =
  "if a state was lost, and nothing outside of this backend has these endpoints (another backend, Terraform), the line takes over what the program declares, and ignores the rest";

/** The most places of one list that are shown if it has another number of items. */
const MAX_MOVED = 3;

/** The changes that are shown. An added or removed item moves all that follow it, so the first place and a number say more. */
function shownChanges(all: FieldChange[]): { changes: FieldChange[]; text?: string } {
  for (const { kind, path } of all) {
    const [, list = ""] = /^(.+)\[\d+\]$/.exec(path) ?? [];
    const moved = all.filter((one) => one.path.startsWith(`${list}[`)).slice(1);
    if (kind === "changed" || list === "" || moved.length < MAX_MOVED) continue;
    const text = `${moved.length} more places differ in ${list}, where an item was added or removed; --json lists them`;
    return { changes: all.filter((one) => !moved.includes(one)), text };
  }
  return { changes: all };
}

function driftedItem({ drift, name, changes: all, ...endpoint }: DriftedEndpoint): Item {
  const { changes, ...text } = shownChanges(all);
  return {
    ...text,
    word: drift,
    mood: "bad",
    subject: withFacts(name, [endpoint.url, endpoint.id, ...changeFacts(endpoint)]),
    changes: changes.map((change) => [change.path, ...shownSides(change)]),
  };
}

function sharedItem({ id, resources }: SharedEndpoint): Item {
  const where = resources.map(({ stack, name, urn }) => `'${name}' of the stack ${stack} (${urn})`);
  return {
    word: "shared",
    mood: "bad",
    subject: id,
    text: `${where.join(" and ")} have it. Each undoes the other's changes, and deleting one may delete the endpoint for both. ${see("Two resources share an endpoint")}`,
  };
}

/** What is known of endpoints that no checked stack has. No report of this package offers a deletion. */
function remedyOf(account: AccountReport, { unread }: OtherStacks): string | undefined {
  const { unmanaged, unknown, creating } = account;
  if (unmanaged.length > 0)
    return `No stack of this backend has the unmanaged endpoints. Something else may: another backend, or Terraform. ${see("Unmanaged endpoints")}`;
  if (creating.length > 0) return `${capital(membersOf(account))}.`;
  if (unknown === 0 || unread.length === 0) return undefined;
  return "As long as a state cannot be read, it is unknown who has these endpoints.";
}

/** The stacks that were not read, because they are many and nothing depended on them. */
const unreadStacks = ({ count: number = 0, isRead, unread }: OtherStacks): Section => ({
  title: "Other stacks",
  ...(!isRead &&
    unread.length === 0 && {
      summary: `${number} not read, so one of them may have these endpoints, too; --fail-on-unmanaged reads them`,
    }),
  items: [],
});

const unreadItem = ({ name, reason }: OtherStacks["unread"][number]): Item => ({
  ...{ word: "unread", mood: "unsure", subject: shownName(name), text: reason },
});

function accountSection(account: AccountReport, others: OtherStacks): Section {
  const { endpoints, unmanaged, ignored, elsewhere, unknown } = account;
  const counts = [
    [elsewhere, "of other stacks"],
    [ignored.length, "ignored"],
    [unknown, "in no checked stack"],
  ] as const;
  const parts = [
    ...(unknown === 0
      ? [`${count(unmanaged.length, "unmanaged endpoint")} found among ${count(endpoints, "cloud endpoint")}`]
      : [count(endpoints, "cloud endpoint")]),
    ...counts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : [])),
  ];
  const remedy = remedyOf(account, others);
  return {
    title: capital(accountName(account)),
    ...(endpoints > 0 && { summary: parts.join(", ") }),
    ...(remedy !== undefined && { remedy }),
    items: [
      ...unmanaged.map(unmanagedItem),
      ...ignored.map(({ id, url, reason }) => ({
        ...{ word: "ignored", mood: "good" as const },
        subject: withFacts(url, [id]),
        text: reason,
      })),
    ],
  };
}

function accountName({ stacks, service }: AccountReport): string {
  const names = stacks.length > 1 ? `${stacks.length} stacks (${stacks[0]}, …)` : (stacks[0] ?? "no stack");
  return `account of ${names}${service === undefined ? "" : ` at ${service}`}`;
}

const UNMANAGED = "unmanaged";

const unmanagedItem = (endpoint: UnmanagedEndpoint): Item => ({
  ...{ word: UNMANAGED, mood: "unsure" },
  subject: withFacts(endpoint.url, endpointFacts(endpoint)),
});

/** What tells one endpoint from another. */
export const endpointFacts = (
  endpoint: Pick<UnmanagedEndpoint, "id" | "description" | "createdAt" | "updatedAt">,
) => [
  endpoint.id,
  endpoint.description && JSON.stringify(endpoint.description),
  endpoint.createdAt && `created ${timeText(endpoint.createdAt)}`,
  ...changeFacts(endpoint),
];

const withFacts = (name = "without a URL", facts: readonly (string | undefined)[]): string =>
  `${name} (${facts.filter((fact) => fact).join(", ")})`;

const changeFacts = ({ updatedAt }: Pick<UnmanagedEndpoint, "updatedAt">) => [
  updatedAt && `changed ${timeText(updatedAt)}`,
];

export const timeText = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

/** Everything unchecked. A cause that several stacks, accounts or endpoints share is told once. */
function causesOf(stacks: readonly StackReport[], accounts: readonly AccountReport[]): Item[] {
  const places = [
    ...stacks.map(({ name, unchecked }) => ({ place: name, unchecked })),
    ...accounts.map((account) => ({ place: accountName(account), unchecked: account.unchecked })),
  ];
  const all = places.flatMap(({ place, unchecked }) =>
    unchecked.map(({ what, reason }) => ({ name: `${place}: ${what}`, reason })),
  );
  // Reasons that differ only in ids are one cause.
  const groups = groupBy(all, ({ reason }) => reason.replaceAll(/ep_\w+/g, ""));
  return [...groups.values()].map((same) => {
    const names = same.slice(0, MAX_NAMES).map(({ name }) => name);
    const more = same.length - names.length;
    return {
      ...{ word: "unchecked", mood: "unsure" },
      subject: names.join(", ") + (more > 0 ? ` and ${more} more` : ""),
      text: same[0]?.reason ?? "",
    };
  });
}

/** The outcome in one line, for a title and for the first line of a log. */
function headline(report: DriftReport): string {
  const { stacks, shared, failOnUnmanaged } = report;
  const unmanaged = countUnmanaged(report);
  const undeployed = stacks.filter((stack) => stack.undeployed !== undefined).length;
  const unchecked = allUnchecked(report).length;
  const parts = [
    findings(stacks),
    undeployed > 0 && `${count(undeployed, "stack")} undeployed`,
    unmanaged > 0 && `${unmanaged} unmanaged${failOnUnmanaged ? ", which counts as drift" : ""}`,
    shared.length > 0 && `${count(shared.length, "endpoint")} of more than one resource`,
    unchecked > 0 && `${unchecked} unchecked`,
  ];
  return capital(parts.filter(Boolean).join(", "));
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The numbers of drifted and compared endpoints of these stacks. It says that none drifted only if all were compared. */
function findings(stacks: readonly StackReport[]): string {
  const drifted = stacks.flatMap((stack) => stack.drifted);
  const deleted = drifted.filter(({ drift }) => drift === "deleted").length;
  const changed = drifted.length - deleted;
  const kinds = [changed > 0 && `${changed} changed`, deleted > 0 && `${deleted} deleted`].filter(Boolean);
  const total = sumOf(stacks, "endpoints");
  const compared = sumOf(stacks, "compared");
  const without = stacks.filter(({ endpoints }) => endpoints === 0);
  // The number of its endpoints is unknown.
  const unread = without.filter(({ unchecked }) => unchecked.length > 0);
  const empty = without.length - unread.length;
  const all = `${unread.length > 0 ? "at least " : ""}${count(total, "cloud endpoint")}`;
  const parts = [
    // A lost state must not look like a state without drift.
    empty > 0 &&
      `no cloud endpoint in ${stacks.length > 1 ? `${empty} of ${stacks.length} states` : "the state"}`,
    drifted.length > 0 && `${drifted.length} of ${all} drifted (${kinds.join(", ")})`,
    (compared < total || unread.length > 0) && `${compared} of ${all} compared`,
    compared === total &&
      unread.length === 0 &&
      drifted.length === 0 &&
      total > 0 &&
      `none of ${all} drifted`,
  ];
  return parts.filter(Boolean).join(", ");
}

const sumOf = (stacks: readonly StackReport[], field: "endpoints" | "compared"): number =>
  stacks.reduce((sum, stack) => sum + stack[field], 0);

/** Both sides of a change as JSON. Of long values, only the part around the first difference. */
function shownSides({ expected, live }: FieldChange): [string, string] {
  const [a, b] = [sideText(expected), sideText(live)];
  let same = 0;
  if (Math.max(a.length, b.length) > MAX_VALUE_LENGTH) while (same < a.length && a[same] === b[same]) same++;
  const from = Math.max(0, same - CONTEXT);
  const part = (text: string) => (from > 0 ? "…" : "") + cut(text.slice(from), MAX_VALUE_LENGTH);
  return [part(a), part(b)];
}

/** As JSON, so that the text `"true"` differs from the value `true`. A placeholder has no quotes. */
function sideText(side: FieldChange["live"]): string {
  if (side === undefined) return "(nothing)";
  return side === MASKED || side === INVALID_POLICY ? side : JSON.stringify(side);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : text;
}
