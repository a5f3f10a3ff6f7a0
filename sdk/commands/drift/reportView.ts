import { escaped } from "../../../provider/api/text";
import { MASKED } from "../../../provider/endpoint/secrets";
import { lastOf } from "../projects";
import { count, grouped } from "../text";
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
  type UnmanagedEndpoint,
} from "./report";

/* The sections and rows of a report, which the text and the page print. */

export type Mood = "good" | "bad" | "unsure";

/** One finding, or a name in a list. */
export interface Item {
  /** The kind of finding: `changed`, `unchecked`. */
  word?: string;
  mood?: Mood;
  name?: string;
  facts?: string[];
  text?: string;
  /** The rows of a table: the place, the value in the state, the value on the service. */
  changes?: [path: string, expected: string, live: string][];
  command?: string;
}

export interface Section {
  title: string;
  summary?: string;
  remedy?: string;
  items: Item[];
  /** The page shows the items on demand, and the text only counts them. */
  isFolded?: boolean;
}

interface View {
  /** The word before the headline; missing if the headline has it. */
  word?: string;
  mood: Mood;
  headline: string;
  sections: Section[];
}

export const CHANGE_HEADINGS = ["field", "should be", "is"] as const;

const OUTCOMES: Record<DriftReport["outcome"], Pick<View, "word" | "mood">> = {
  none: { mood: "good" },
  repaired: { word: "Repaired", mood: "good" },
  drift: { word: "Drift", mood: "bad" },
  unrepaired: { word: "Not repaired", mood: "bad" },
  unchecked: { word: "Unchecked", mood: "unsure" },
  undeployed: { word: "Undeployed", mood: "unsure" },
};

/** More stacks without drift are folded. */
const MOST_OTHERS = 3;

/** More unmanaged endpoints are folded. */
const MOST_UNMANAGED = 20;

/** The most names in a list of names. */
const MOST_NAMES = 3;

/** The most characters of a value. */
const MOST_OF_VALUE = 400;

/** The number of characters before the first difference of two long values. */
const CONTEXT = 24;

/**
 * What every form of the report shows. Other people write the values, so each text is made visible here: none can control a
 * terminal, a pipeline or a page, or hide a difference.
 */
export function viewOf(report: DriftReport): View {
  const view: View = {
    ...OUTCOMES[report.outcome],
    headline: headline(report),
    sections: sectionsOf(report),
  };
  return JSON.parse(JSON.stringify(view, (_, each) => (typeof each === "string" ? visible(each) : each)));
}

/** Foreign text on one line, of limited length. */
export const visible = (text: string): string => cut(escaped(text), 2000);

function sectionsOf(report: DriftReport): Section[] {
  const { stacks, accounts, shared } = report;
  const hasFinding = ({ drifted, undeployed }: StackReport) => drifted.length > 0 || undeployed !== undefined;
  const found = stacks.filter(hasFinding);
  const others = stacks.filter((stack) => !hasFinding(stack));
  const sections: Section[] = [
    // Drift comes first.
    ...found.toSorted((a, b) => b.drifted.length - a.drifted.length).map(stackSection),
    ...(others.length > MOST_OTHERS ? [othersSection(others, found.length > 0)] : others.map(stackSection)),
    { title: "Unchecked", items: causesOf(report) },
    { title: "Endpoints of more than one resource", items: shared.map(sharedItem) },
    ...accounts.flatMap((account) => accountSections(account, report)),
  ];
  return sections.filter(({ items, summary }) => items.length > 0 || summary !== undefined);
}

function stackSection(stack: StackReport): Section {
  const { name, undeployed, drifted } = stack;
  const text = `${undeployed}. The state may not match the program: review \`pulumi preview\`, then run \`pulumi up\`.`;
  return {
    title: `Stack ${name}`,
    summary: findings([stack]),
    items: [
      ...(undeployed === undefined ? [] : [{ word: "undeployed", mood: "unsure" as const, text }]),
      ...drifted.map(driftedItem),
    ],
  };
}

const othersSection = (stacks: StackReport[], isRest: boolean): Section => ({
  title: count(stacks.length, isRest ? "other stack" : "stack"),
  summary: findings(stacks),
  items: stacks.map((stack) => ({ name: stack.name, facts: [findings([stack])] })),
  isFolded: true,
});

function driftedItem({ drift, repair, name, url, changes, ...endpoint }: DriftedEndpoint): Item {
  return {
    word: drift,
    mood: repair?.done ? "good" : "bad",
    name,
    facts: [...(url === undefined ? [] : [url]), endpoint.id, ...seenFacts(endpoint)],
    ...(repair && {
      text: repair.done ? "repaired" : `not repaired: ${repair.reason ?? "without a reason"}`,
    }),
    changes: changes.map((change) => [change.path, ...shownSides(change)]),
  };
}

function sharedItem({ id, takenOverBy, resources }: SharedEndpoint): Item {
  const where = resources.map(({ stack, name }) => `'${name}' of the stack ${stack}`);
  const commands = resources.map(
    ({ stack, urn }) => `\`pulumi state delete '${urn}' --stack ${lastOf(stack)}\``,
  );
  const taker = takenOverBy === undefined ? "" : `; its mark says that ${takenOverBy} took it over`;
  return {
    word: "shared",
    mood: "bad",
    text: `${id} belongs to ${where.join(" and ")}${taker}. So each undoes the other's changes, and deleting one may delete the endpoint for both. Keep one, and remove the other from its state, in the folder of its project: ${commands.join(" or ")}. This leaves the endpoint as it is. Then take that resource out of the program.`,
  };
}

/** What a person can do about the endpoints that no state has. This package never deletes them. */
const UNMANAGED_REMEDY =
  'No state that was read has these endpoints. First check that no other stack has the endpoint, in this backend or in any other. Then take it over with adopt: "ep_…" for one `pulumi up`, or delete it with its curl line.';

function accountSections(account: AccountReport, report: DriftReport): Section[] {
  const { endpoints, unmanaged, others, ignored, known } = account;
  const all = count(endpoints, "cloud endpoint");
  const found =
    unmanaged.length > 0
      ? `${unmanaged.length} of ${all} unmanaged`
      : `no unmanaged endpoint was found among ${all}`;
  const item = (word: string) => (each: UnmanagedEndpoint) => unmanagedItem(word, each, report);
  const items = unmanaged.map(item("unmanaged"));
  const more = items.length - MOST_UNMANAGED;
  return [
    {
      title: capital(accountName(account)),
      ...(endpoints > 0 && {
        summary: `${found}${known > 0 ? `, ${known} managed by the known stacks` : ""}`,
      }),
      ...(items.length > 0 && { remedy: UNMANAGED_REMEDY }),
      items: items.slice(0, MOST_UNMANAGED),
    },
    { title: `${more} more unmanaged`, items: items.slice(MOST_UNMANAGED), isFolded: true },
    {
      title: `${others.length} marked for other projects`,
      items: others.map(item("marked")),
      isFolded: true,
    },
    {
      title: `${ignored.length} ignored`,
      items: ignored.map(({ id, url, reason }) => ({ word: "ignored", name: url ?? id, text: reason })),
      isFolded: true,
    },
  ];
}

function accountName({ stacks, service }: AccountReport): string {
  const names = stacks.length > 1 ? `${stacks.length} stacks (${stacks[0]}, …)` : (stacks[0] ?? "no stack");
  return `account of ${names}${service === undefined ? "" : ` at ${service}`}`;
}

function unmanagedItem(word: string, endpoint: UnmanagedEndpoint, report: DriftReport): Item {
  const { id, url = "without a URL", description, createdAt, createdFor, deleteCommand } = endpoint;
  return {
    word,
    mood: "unsure",
    name: url,
    facts: [
      id,
      ...(description ? [JSON.stringify(description)] : []),
      ...(createdAt ? [`created ${createdAt.slice(0, 10)}, ${ageText(createdAt, report)}`] : []),
      ...seenFacts(endpoint),
      ...(createdFor ? [`for ${createdFor}`] : []),
    ],
    ...(deleteCommand !== undefined && { command: deleteCommand }),
  };
}

const seenFacts = ({
  updatedAt,
  principal,
}: Pick<UnmanagedEndpoint, "updatedAt" | "principal">): string[] => [
  ...(updatedAt ? [`changed ${timeText(updatedAt)}`] : []),
  ...(principal ? [`owned by ${principal}`] : []),
];

export const timeText = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

const UNITS = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
] as const;

/** How long before a check an endpoint was created. */
function ageText(createdAt: string, { startedAt }: DriftReport): string {
  const age = Math.max(0, Date.parse(startedAt) - Date.parse(createdAt));
  const [size, unit] = UNITS.find(([size]) => age >= size) ?? UNITS[2];
  return `${count(Math.floor(age / size), unit)} ago`;
}

/** Everything unchecked. A cause that several stacks, accounts or endpoints share is told once. */
function causesOf({ stacks, accounts }: DriftReport): Item[] {
  const all = [
    ...stacks.map(({ name, unchecked }) => ({ place: name, unchecked })),
    ...accounts.map((account) => ({ place: accountName(account), unchecked: account.unchecked })),
  ].flatMap(({ place, unchecked }) => unchecked.map(({ what, reason }) => ({ place, what, reason })));
  // Reasons that differ only in ids are one cause.
  const groups = grouped(all, ({ reason }) => reason.replaceAll(/ep_\w+/g, ""));
  return [...groups.values()].map((same) => {
    const names = same.slice(0, MOST_NAMES).map(({ place, what }) => `${place}: ${what}`);
    const more = same.length - names.length;
    return {
      ...{ word: "unchecked", mood: "unsure" },
      name: names.join(", ") + (more > 0 ? ` and ${more} more` : ""),
      text: same[0]?.reason ?? "",
    };
  });
}

/** The outcome in one line, for a title and for the last line of a log. */
export function headline(report: DriftReport): string {
  const { stacks, shared, fix } = report;
  const drifted = allDrifted(report);
  const repaired = drifted.filter(({ repair }) => repair?.done).length;
  const unmanaged = countUnmanaged(report);
  const isFailing = report.failOnUnmanaged && unmanaged > 0;
  const undeployed = stacks.filter((stack) => stack.undeployed !== undefined).length;
  const unchecked = allUnchecked(report).length;
  const parts = [
    isFailing && `${unmanaged} unmanaged, which counts as drift`,
    findings(stacks, { isFailing: isFailing || shared.length > 0 }),
    undeployed > 0 && `${count(undeployed, "stack")} undeployed`,
    fix && drifted.length > 0 && `${repaired} repaired`,
    fix && drifted.length > repaired && `${drifted.length - repaired} not repaired`,
    !isFailing && unmanaged > 0 && `${unmanaged} unmanaged`,
    shared.length > 0 && `${count(shared.length, "endpoint")} of more than one resource`,
    unchecked > 0 && `${unchecked} unchecked`,
  ];
  return capital(parts.filter(Boolean).join(", "));
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The numbers of drifted and compared endpoints of these stacks. It reports no drift only if all were compared. */
function findings(stacks: StackReport[], { isFailing } = { isFailing: false }): string {
  const drifted = stacks.flatMap((stack) => stack.drifted);
  const deleted = drifted.filter(({ drift }) => drift === "deleted").length;
  const changed = drifted.length - deleted;
  const kinds = [changed > 0 && `${changed} changed`, deleted > 0 && `${deleted} deleted`].filter(Boolean);
  const total = sumOf(stacks, "endpoints");
  const compared = sumOf(stacks, "compared");
  const all = count(total, "cloud endpoint");
  // The number of its endpoints is unknown.
  const isUnread = stacks.some(({ endpoints, unchecked }) => endpoints === 0 && unchecked.length > 0);
  const parts = drifted.length > 0 ? [`${drifted.length} of ${all} drifted (${kinds.join(", ")})`] : [];
  if (compared < total || isUnread)
    parts.push(
      total === 0 ? "nothing compared" : `${compared} of ${isUnread ? "at least " : ""}${all} compared`,
    );
  if (parts.length > 0) return parts.join(", ");
  const isSure = !isFailing && stacks.every(({ undeployed }) => undeployed === undefined);
  return isSure ? `no drift in ${all}` : `none of ${all} drifted`;
}

const sumOf = (stacks: StackReport[], field: "endpoints" | "compared"): number =>
  stacks.reduce((sum, stack) => sum + stack[field], 0);

/** Both sides of a change as JSON. Of long values, only the part around the first difference. */
function shownSides({ expected, live }: FieldChange): [string, string] {
  const [a, b] = [sideText(expected), sideText(live)];
  let same = 0;
  if (Math.max(a.length, b.length) > MOST_OF_VALUE) while (same < a.length && a[same] === b[same]) same++;
  const from = Math.max(0, same - CONTEXT);
  const part = (text: string) => (from > 0 ? "…" : "") + cut(text.slice(from), MOST_OF_VALUE);
  return [part(a), part(b)];
}

/** As JSON, so that the text `"true"` differs from the value `true`. A placeholder has no quotes. */
function sideText(side: FieldChange["live"]): string {
  if (side === undefined) return "(nothing)";
  return side === MASKED || side === BROKEN ? side : JSON.stringify(side);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : text;
}
