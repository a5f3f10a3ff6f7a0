import { normalizeUrl } from "../../../provider/data/index";
import type { Endpoint } from "../../../provider/service/contract";
import { see } from "../../../provider/service/headings";
import { urlOf } from "../../../provider/service/url";
import { forPulumi } from "../stackNames";
import { shellWord } from "../text";
import { type PendingCreate, pendingCreates } from "../userProject";
import { asUnchecked, type ScannedAccount } from "./accounts";
import { shownUrl } from "./compare";
import type { AccountReport, DriftReport, PendingCreateReport, StackReport } from "./report";
import { byName, changedMeanwhile, type StackScan } from "./scan";
import type { SecretTexts } from "./secretTexts";

/* The lines that a person runs: they continue after a killed run, put back drift, or take over what a lost state had. */

/**
 * Adds the pending creates to the report of a stack, with what is on their URLs.
 *
 * @param reports The reports of the accounts. A partial report cannot tell which endpoints are in no state.
 */
export async function findLeft(
  { report, creates, accounts, again }: StackScan,
  reports: ReadonlyMap<ScannedAccount, AccountReport>,
  masks: SecretTexts,
): Promise<void> {
  if (creates.length === 0) return;
  const later = await again().then(pendingCreates, () => []);
  for (const create of creates) {
    const { name, urn, type, inputs } = create.wanted;
    const replaces = create.replaced && { replaces: create.replaced.id };
    const account = accounts.get(create.wanted);
    const ofAccount = account && reports.get(account);
    const isStillPending = later.some(({ wanted }) => wanted.urn === urn);
    if (!isStillPending) report.unchecked.push(asUnchecked(`${name} (its create)`, changedMeanwhile()));
    const isChecked = isStillPending && ofAccount?.unchecked.length === 0;
    report.pendingCreates.push({
      ...{ name, urn, type, ...shownUrl(create.wanted, masks), ...replaces },
      pool: inputs["poolingEnabled"] === true,
      ...(isChecked && leftOf(create, account?.cloud ?? [], ofAccount)),
    });
  }
  report.pendingCreates.sort(byName);
}

/** The endpoints on the URL of a pending create: those that no state has, those that are meant to be there, and the others. */
function leftOf(
  { wanted: { inputs }, replaced }: PendingCreate,
  cloud: readonly Endpoint[],
  { unmanaged, ignored }: AccountReport,
): Pick<PendingCreateReport, "pool" | "left" | "ignored" | "managed"> {
  const url = normalizeUrl(String(inputs["url"]));
  const atUrl = cloud.filter((live) => urlOf(live) === url || live.id === replaced?.id);
  const has = (some: readonly { id: string }[], id: string) => some.some((one) => one.id === id);
  const ids = atUrl.map(({ id }) => id);
  const left = ids.filter((id) => id === replaced?.id || has(unmanaged, id));
  const isIgnored = (id: string) => has(ignored, id) && !left.includes(id);
  return {
    pool: inputs["poolingEnabled"] === true || atUrl.some(({ poolingEnabled }) => poolingEnabled === true),
    left,
    ignored: ids.filter(isIgnored),
    managed: ids.filter((id) => !left.includes(id) && !isIgnored(id)),
  };
}

/** Adds the recovery or the repair of each stack to the report. */
export function addLines(report: DriftReport): void {
  for (const stack of report.stacks) {
    stack.recovery = recoveryOf(stack, report);
    stack.repair = repairLine(stack, report);
  }
}

const targetOf = ({ name, project }: Pick<StackReport, "name" | "project">) =>
  `--stack ${shellWord(forPulumi(name, project))}`;

/** The line that shows whether the state matches the program. */
export const previewLine = (stack: StackReport): string => `pulumi preview ${targetOf(stack)}`;

/** What continues after a killed run, so that nothing is lost and nothing doubled; undefined if nothing is pending. */
function recoveryOf(stack: StackReport, { stacks, shared }: DriftReport): StackReport["recovery"] {
  const { pendingOperations, pendingCreates } = stack;
  if (pendingOperations === 0 && pendingCreates.length === 0) return undefined;
  const first = (text: string) => ({ text, adopt: [], lost: {} });
  if (pendingCreates.some(({ left }) => !left))
    return first(
      "what a killed run left is unchecked, and clearing the pending creates would hide it. Remedy what is unchecked, and run this command again.",
    );
  const idsOf = (some: readonly PendingCreateReport[]) => [...new Set(some.flatMap(({ left = [] }) => left))];
  const adopt = idsOf(pendingCreates.filter(({ pool }) => !pool));
  const members = pendingCreates.filter(({ pool }) => pool);
  const lost = lostMembers(members);
  const all = [...adopt, ...idsOf(members)];
  if (shared.some(({ id }) => all.includes(id)))
    return first(
      "an old endpoint belongs to more than one resource. Keep one, as this report says, and run this command again.",
    );
  const other = stacks.find(
    (one) => one !== stack && idsOf(one.pendingCreates).some((id) => all.includes(id)),
  );
  if (other && stacks.indexOf(other) < stacks.indexOf(stack))
    return first(
      `the killed run of the stack ${other.name} may have left the same. Follow its line first, and run this command again.`,
    );
  const target = targetOf(stack);
  const up = `pulumi up ${adopt.length > 0 ? `--config endpoints:adopt=${adopt.map(shellWord).join(",")} ` : ""}${target}`;
  const command =
    pendingOperations > 0 ? `pulumi refresh --yes --clear-pending-creates ${target} && ${up}` : up;
  const unlock = pendingOperations > 0 ? `pulumi cancel ${target}` : undefined;
  const ignored = [...new Set(pendingCreates.flatMap((one) => one.ignored ?? []))];
  if (ignored.length > 0)
    return first(
      `decide whether the killed run made ${ignored.join(", ")}, which a rule of \`ignore\` names. ${see("Pending creates")}`,
    );
  const found = { ...(unlock && { unlock }), adopt, lost };
  if (Object.keys(lost).length > 0)
    return {
      text: `no stack of this backend has the pool's other members. If nothing elsewhere has them, add this list and \`adopt: lost[name]\` to its program. Then run \`${command}\`: its preview must say \`adopts\` for each`,
      ...found,
    };
  const check =
    adopt.length > 0
      ? "no stack of this backend has what the line takes over. If nothing elsewhere has it (another backend, Terraform), run it"
      : "run the line";
  return { text: `${check} in the folder of the project`, command, ...found };
}

/** What pending members of pools are to adopt: any of the members that no stack has, because the adoption changes what differs. */
function lostMembers(pending: readonly PendingCreateReport[]): Record<string, string> {
  const lost: [name: string, id: string][] = [];
  for (const { name, replaces, left = [] } of pending) {
    const id =
      left.find((one) => one === replaces) ?? left.find((one) => !lost.some(([, taken]) => taken === one));
    if (id !== undefined) lost.push([name, id]);
  }
  return Object.fromEntries(lost);
}

/**
 * The line that puts back the drift of a stack. Its preview stops it if the program is not the one that was deployed. Undefined while
 * something of the stack is undeployed, shared or unchecked, because that comes first.
 */
function repairLine(stack: StackReport, { shared }: DriftReport): string | undefined {
  const { name, drifted, undeployed, unchecked, compared, endpoints } = stack;
  const isShared = shared.some(({ resources }) => resources.some((one) => one.stack === name));
  const isUnchecked = unchecked.length > 0 || compared < endpoints;
  if (drifted.length === 0 || undeployed !== undefined || isShared || isUnchecked) return undefined;
  const target = targetOf(stack);
  return `pulumi preview --expect-no-changes ${target} && pulumi up --refresh ${target}`;
}

/** The lines that take over what lost states had: all unmanaged endpoints outside of pools. None while a recovery comes first. */
export function takeOverLines(
  { stacks: names, unmanaged }: AccountReport,
  { stacks }: DriftReport,
): string[] {
  const ids = unmanaged.filter(({ pool }) => !pool).map(({ id }) => shellWord(id));
  const all = stacks.filter(({ name }) => names.includes(name));
  if (ids.length === 0 || all.some(({ recovery }) => recovery !== undefined)) return [];
  const lost = all.filter(({ endpoints }) => endpoints === 0);
  return lost.map((stack) => `pulumi up --config endpoints:adopt=${ids.join(",")} ${targetOf(stack)}`);
}
