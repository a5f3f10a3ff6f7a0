import { forPulumi, lastPartOf } from "../stackNames";
import { shellWord } from "../text";
import type { DriftReport, PendingCreateReport, StackReport } from "./report";

/* The next step for a stack whose state may not match its program: what a killed run left, and how to continue with it. */

interface Recovery {
  text: string;
  /** The line to run, if nothing has to be decided first. */
  command?: string;
}

export interface SharedWithOthers {
  /** The ids of endpoints of more than one resource. */
  shared: ReadonlySet<string>;
  /** The other stacks with a pending create that may have made an endpoint. */
  alsoBy(id: string, stack: string): string | undefined;
}

/** How to go on with a stack whose state may not match its program, so that nothing is lost and nothing doubled. */
export function recoverySteps(stack: StackReport, { shared, alsoBy }: SharedWithOthers): Recovery {
  const { name, project, pendingOperations, pendingCreates } = stack;
  const target = `--stack ${shellWord(forPulumi(name, project))}`;
  if (pendingOperations === 0 && pendingCreates.length === 0)
    return { text: "the state may not match the program. Review `pulumi preview`, then run `pulumi up`." };
  if (pendingCreates.some(({ replaces, found }) => !found || (replaces && replaces.exists === undefined)))
    return {
      text: "what a killed run left is unchecked, and clearing the pending creates would hide it. Remedy what is unchecked, and run this command again.",
    };
  const kept = pendingCreates.flatMap(({ replaces }) => (replaces?.sameUrl ? [replaces.id] : []));
  if (kept.some((id) => shared.has(id)))
    return {
      text: "an old endpoint belongs to more than one resource. Keep one, as this report says, and run this command again.",
    };
  const left = [...new Set(pendingCreates.flatMap(orphanIds))];
  const unlock =
    pendingOperations > 0 &&
    `If a run of this stack is in progress, wait for its end. If not, unlock the stack with \`pulumi cancel ${target}\`, which may find no lock`;
  const clear = `pulumi refresh --yes --clear-pending-creates ${target}`;
  if (left.length === 0 && pendingCreates.some(({ replaces }) => replaces?.exists && !replaces.sameUrl)) {
    const texts = [
      unlock,
      "Pulumi skipped a deletion (`retainOnDelete`, `deletedWith`), and no run can continue with the old endpoint, because the program does not give its URL, or its preview failed",
      `First go back to the program of the last successful \`up\`${unlock ? `, and run \`${clear}\`` : ""}. Then run this command again, which prints the next step.`,
    ];
    return { text: texts.filter(Boolean).join(". ") };
  }
  const ids = [...kept, ...left].map(shellWord).join(",");
  const consent = `ENDPOINTS_ADOPT=${shellWord(`${project}/${lastPartOf(name)}`)}:${ids} `;
  // Refreshed, so that the run knows what the state has before its first create.
  const up = ids === "" ? `pulumi up ${target}` : `${consent}pulumi up --refresh ${target}`;
  const both = left.find((id) => alsoBy(id, name) !== undefined);
  const texts = [
    unlock,
    kept.length > 0 &&
      "Pulumi skipped a deletion (`retainOnDelete`, `deletedWith`), so the old endpoint still has its URL, and the line continues with it",
    left.length > 0 &&
      "Check that no other stack has what the line takes over, in this backend or in any other, and leave out the ids of others",
    both !== undefined &&
      `${both} may be what the killed run of the stack ${alsoBy(both, name)} left. Follow this for one stack, and run this command again before the other`,
    "Run this line in the folder of the project:",
  ];
  const command = unlock ? `${clear} && ${up}` : up;
  const ignored = [...new Set(pendingCreates.flatMap(ignoredIds))];
  if (ignored.length > 0)
    return {
      text: `${unlock ? `${unlock}. ` : ""}Decide first about ${ignored.join(", ")}, which a rule of \`ignore\` names. If the killed run made it, remove the rule, and run this command again: then it prints the line that takes it over. If not, run \`${command}\``,
    };
  return { text: texts.filter(Boolean).join(". "), command };
}

/** The ids of what a pending create may have made, without endpoints that are meant to be there. */
export const orphanIds = ({ found = [] }: Pick<PendingCreateReport, "found">): string[] =>
  found.filter(({ equal, ignored }) => equal && !ignored).map(({ id }) => id);

/** The ids of equal endpoints that are meant to be there, but that a pending create may have made. */
export const ignoredIds = ({ found = [] }: Pick<PendingCreateReport, "found">): string[] =>
  found.filter(({ equal, ignored }) => equal && ignored).map(({ id }) => id);

/**
 * The line that puts back the drift of a stack. Its preview stops it if the program is not the one that was deployed. Undefined while
 * something of the stack is undeployed, shared or unchecked, because that comes first.
 */
export function repairLine(stack: StackReport, { accounts, shared }: DriftReport): string | undefined {
  const { name, project, drifted, undeployed } = stack;
  const isShared = shared.some(({ resources }) => resources.some((one) => one.stack === name));
  const isUnchecked = [stack, ...accounts.filter(({ stacks }) => stacks.includes(name))].some(
    ({ unchecked }) => unchecked.length > 0,
  );
  if (drifted.length === 0 || undeployed !== undefined || isShared || isUnchecked) return undefined;
  const target = `--stack ${shellWord(forPulumi(name, project))}`;
  return `pulumi preview --expect-no-changes ${target} && pulumi up --refresh ${target}`;
}
