import { EXIT } from "../account";
import { count } from "../command";
import type {
  AccountReport,
  DriftedEndpoint,
  DriftReport,
  SharedEndpoint,
  StackReport,
  Unseen,
} from "./report";
import { visible } from "./shown";

/** The number with which Pulumi's own CLI says that there are changes where none were expected. */
export const DRIFT = 7;

type Found = Pick<DriftReport, "stacks" | "accounts" | "shared" | "fix" | "failOnUnmanaged">;

/** How the run ended. What could not be seen weighs more than what was: half a look is neither drift nor none. */
export function outcomeOf(found: Found): Pick<DriftReport, "outcome" | "exitCode"> {
  const blind = allUnseen(found);
  if (blind.some(({ authentication }) => authentication))
    return { outcome: "unseen", exitCode: EXIT.authentication };
  if (blind.length > 0) return { outcome: "unseen", exitCode: EXIT.failed };

  const drifted = allDrifted(found);
  if (drifted.some(({ repair }) => repair?.done === false)) {
    const refused = drifted.some(({ repair }) => repair?.authentication);
    return { outcome: "unrepaired", exitCode: refused ? EXIT.authentication : EXIT.failed };
  }
  const isDrift = drifted.some(({ repair }) => repair?.done !== true) || found.shared.length > 0;
  if (isDrift || (found.failOnUnmanaged && countUnmanaged(found) > 0))
    return { outcome: "drift", exitCode: DRIFT };
  return { outcome: drifted.length > 0 ? "repaired" : "none", exitCode: EXIT.done };
}

/** The whole outcome in a line, for a title and for the last line of a log. */
export function headline(report: DriftReport): string {
  const drifted = allDrifted(report);
  const repaired = drifted.filter(({ repair }) => repair?.done).length;
  const total = sumOf(report.stacks, "endpoints");
  const unread = report.stacks.filter(isUnread).length;
  const blind = allUnseen(report).length;
  const unmanaged = countUnmanaged(report);
  const kinds = (["changed", "deleted"] as const).flatMap((kind) => {
    const some = drifted.filter(({ drift }) => drift === kind).length;
    return some > 0 ? [`${some} ${kind}`] : [];
  });
  const partly = comparison(report.stacks);
  const some = `${drifted.length} of ${count(total, "cloud endpoint")} drifted (${kinds.join(", ")})`;
  const failing = report.failOnUnmanaged && unmanaged > 0;
  const parts = [
    ...(failing ? [`${unmanaged} unmanaged, which counts as drift`] : []),
    ...(drifted.length > 0 ? [some] : []),
    ...(partly === undefined ? [] : [drifted.length > 0 ? partly : capital(partly)]),
    ...(drifted.length === 0 && partly === undefined
      ? [
          failing
            ? `none of ${count(total, "cloud endpoint")} drifted`
            : `No drift in ${count(total, "cloud endpoint")}`,
        ]
      : []),
    ...(unread > 0 ? [`${count(unread, "stack")} not read`] : []),
    ...(report.fix && drifted.length > 0 ? [`${repaired} repaired`] : []),
    ...(report.fix && repaired < drifted.length ? [`${drifted.length - repaired} not repaired`] : []),
    ...(unmanaged > 0 && !failing ? [`${unmanaged} unmanaged`] : []),
    ...(report.shared.length > 0
      ? [`${count(report.shared.length, "endpoint")} of more than one resource`]
      : []),
    ...(blind > 0 ? [`${count(blind, "thing")} could not be seen`] : []),
  ];
  return parts.join(", ");
}

/** How much was compared where it was not all; undefined where it was, and only then can there be no drift. */
export function comparison(stacks: StackReport[]): string | undefined {
  const [endpoints, compared] = [sumOf(stacks, "endpoints"), sumOf(stacks, "compared")];
  if (compared === endpoints && !stacks.some(isUnread)) return undefined;
  return endpoints === 0
    ? "nothing compared"
    : `${compared} of ${count(endpoints, "cloud endpoint")} compared`;
}

/** What to know of an endpoint of several resources, in a line. */
export function sharedText({ id, resources }: SharedEndpoint): string {
  const where = resources
    .map(({ stack, name }) => `${visible(name)} (stack ${visible(stack)})`)
    .join(" and ");
  return `${visible(id)} belongs to ${where}, so that each undoes what the other does, and deletes it for both. Remove it from all states but one with \`pulumi state delete\`.`;
}

/** How many endpoints it manages is not known then. */
const isUnread = ({ endpoints, unseen }: StackReport) => endpoints === 0 && unseen.length > 0;

const sumOf = (stacks: StackReport[], field: "endpoints" | "compared"): number =>
  stacks.reduce((sum, stack) => sum + stack[field], 0);

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const allDrifted = ({ stacks }: Found): DriftedEndpoint[] => stacks.flatMap(({ drifted }) => drifted);

const allUnseen = ({ stacks, accounts }: Found): Unseen[] =>
  [...stacks, ...accounts].flatMap(({ unseen }) => unseen);

export const countUnmanaged = ({ accounts }: Found): number =>
  accounts.reduce((sum, { unmanaged }) => sum + unmanaged.length, 0);

export function accountName({ service, stacks }: Pick<AccountReport, "service" | "stacks">): string {
  const at = service === undefined ? "" : ` at ${visible(service)}`;
  return `Account of ${stacks.map((name) => visible(name)).join(", ")}${at}`;
}
