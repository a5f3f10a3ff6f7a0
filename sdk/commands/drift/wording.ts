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
  type DriftReport,
  type FieldChange,
  type SharedEndpoint,
  type StackReport,
  type Unchecked,
} from "./report";

/*
 * The wording of the text and the page. Values come from other people. Invisible characters become escapes, so that they can
 * neither control a terminal or a pipeline nor hide a difference.
 */

/** The most names for one cause. */
const MOST_NAMES = 3;

type Cause = Pick<Unchecked, "what" | "reason">;

/** Reasons that differ only in ids are one cause. */
const causeOf = (reason: string) => reason.replaceAll(/ep_\w+/g, "");

/** Everything unchecked, grouped by cause. */
export function causesOf(unchecked: readonly Unchecked[]): Cause[] {
  const causes = grouped(unchecked, ({ reason }) => causeOf(reason));
  return [...causes.values()].map((all) => ({
    what: namesOf(all.map(({ what }) => what)),
    reason: all[0]?.reason ?? "",
  }));
}

function namesOf(names: readonly string[], before = ""): string {
  const more = names.length - MOST_NAMES;
  return before + names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
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

/** The causes that several stacks share, each told once, and the stacks without them. */
export function commonCauses(stacks: readonly StackReport[]): { common: Cause[]; own: StackReport[] } {
  const all = stacks.flatMap(({ name, unchecked }) => unchecked.map(({ reason }) => ({ name, reason })));
  const byCause = [...grouped(all, ({ reason }) => causeOf(reason))];
  const shared = byCause.filter(([, each]) => new Set(each.map(({ name }) => name)).size > 1);
  const causes = new Set(shared.map(([cause]) => cause));
  return {
    common: shared.map(([, each]) => ({
      what: namesOf(
        [...new Set(each.map(({ name }) => name))],
        `${count(new Set(each.map(({ name }) => name)).size, "stack")}: `,
      ),
      reason: each[0]?.reason ?? "",
    })),
    own: stacks.map((stack) => ({
      ...stack,
      unchecked: stack.unchecked.filter(({ reason }) => !causes.has(causeOf(reason))),
    })),
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
    findings(stacks, isFailing),
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
export function findings(stacks: StackReport[], isFailing = false): string {
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
    parts.push(total === 0 ? "nothing compared" : `${compared} of ${all} compared`);
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
  const urns = resources.map(({ urn }) => visible(urn, 2000)).join(" and ");
  const remedy =
    stacks.size === resources.length
      ? "Remove it from all states but one with `pulumi state delete`."
      : `Remove all but one of the entries ${urns} with \`pulumi state delete --stack ${[...stacks].join(" or ")}\`, which leaves the endpoint as it is, then take their resources out of the program.`;
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
  ...(updatedAt === undefined ? [] : [`changed ${updatedAt.slice(0, 16).replace("T", " ")}`]),
  ...(principal === undefined ? [] : [`owned by ${visible(principal)}`]),
];

/** The resource of the mark. */
export const createdForText = ({ createdFor, orphan }: AccountReport["unmanaged"][number]): string =>
  visible(`${orphan ? "orphan, created " : ""}for ${createdFor}`);

/** What to do about the orphans of an account; undefined if there are none. */
export const orphansText = ({ unmanaged }: AccountReport): string | undefined =>
  unmanaged.some(({ orphan }) => orphan)
    ? "An orphan was created for a resource of this project, but the state of no given stack has it. If no other stack has it either, delete it or adopt it."
    : undefined;

export function accountName({ service, stacks }: Pick<AccountReport, "service" | "stacks">): string {
  const at = service === undefined ? "" : ` at ${visible(service)}`;
  return `Account of ${stacks.map((name) => visible(name)).join(", ")}${at}`;
}

/** The number of characters before the first difference of two long texts. */
const BEFORE = 24;

/** A name, a URL or a message on one line. */
export function visible(text: string, most = 300): string {
  return cut(escaped(text), most);
}

/** Both sides of a change as JSON; undefined for a side without a value. Of long values, only the part around the difference. */
export function shownSides(
  { expected, live }: FieldChange,
  most: number,
): { expected: string | undefined; live: string | undefined } {
  const [a, b] = [written(expected), written(live)];
  if (a === undefined || b === undefined || (a.length <= most && b.length <= most))
    return { expected: a && cut(a, most), live: b && cut(b, most) };
  const from = Math.max(0, samePrefix(a, b) - BEFORE);
  const part = (text: string) => (from > 0 ? "…" : "") + cut(text.slice(from), most);
  return { expected: part(a), live: part(b) };
}

/** As JSON, so that the text `"true"` differs from the value `true`. A placeholder has no quotes. */
function written(side: FieldChange["live"]): string | undefined {
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
