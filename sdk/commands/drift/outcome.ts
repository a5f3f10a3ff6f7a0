import { EXIT } from "../account";
import type { AccountReport, DriftedEndpoint, DriftReport, Unseen } from "./report";
import { visible } from "./shown";

/** The number with which Pulumi's own CLI says that there are changes where none were expected. */
export const DRIFT = 7;

type Found = Pick<DriftReport, "stacks" | "accounts" | "fix" | "failOnUnmanaged">;

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
  const isDrift = drifted.some(({ repair }) => repair?.done !== true);
  if (isDrift || (found.failOnUnmanaged && countUnmanaged(found) > 0))
    return { outcome: "drift", exitCode: DRIFT };
  return { outcome: drifted.length > 0 ? "repaired" : "none", exitCode: EXIT.done };
}

/** The whole outcome in a line, for a title and for the last line of a log. */
export function headline(report: DriftReport): string {
  const drifted = allDrifted(report);
  const repaired = drifted.filter(({ repair }) => repair?.done).length;
  const total = report.stacks.reduce((sum, { endpoints }) => sum + endpoints, 0);
  const blind = allUnseen(report).length;
  const unmanaged = countUnmanaged(report);
  const kinds = (["changed", "deleted"] as const).flatMap((kind) => {
    const some = drifted.filter(({ drift }) => drift === kind).length;
    return some > 0 ? [`${some} ${kind}`] : [];
  });
  const parts = [
    drifted.length === 0
      ? `No drift in ${count(total, "cloud endpoint")}`
      : `${drifted.length} of ${count(total, "cloud endpoint")} drifted (${kinds.join(", ")})`,
    ...(report.fix && drifted.length > 0 ? [`${repaired} repaired`] : []),
    ...(unmanaged > 0 ? [`${unmanaged} unmanaged`] : []),
    ...(blind > 0 ? [`${count(blind, "thing")} could not be seen`] : []),
  ];
  return parts.join(", ");
}

export const allDrifted = ({ stacks }: Found): DriftedEndpoint[] => stacks.flatMap(({ drifted }) => drifted);

const allUnseen = ({ stacks, accounts }: Found): Unseen[] =>
  [...stacks, ...accounts].flatMap(({ unseen }) => unseen);

export const countUnmanaged = ({ accounts }: Found): number =>
  accounts.reduce((sum, { unmanaged }) => sum + unmanaged.length, 0);

export function accountName({ service, stacks }: Pick<AccountReport, "service" | "stacks">): string {
  const at = service === undefined ? "" : ` at ${visible(service)}`;
  return `Account of ${stacks.map((name) => visible(name)).join(", ")}${at}`;
}

export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
