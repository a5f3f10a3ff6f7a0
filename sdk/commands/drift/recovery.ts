import type { Endpoint } from "../../../provider/service/contract";
import { see } from "../../../provider/service/headings";
import { urlOf } from "../../../provider/service/url";
import { forPulumi } from "../stackNames";
import { shellWord } from "../text";
import { type PendingCreate, pendingCreates } from "../userProject";
import { asUnchecked, type ManagingStacks, type ScannedAccount } from "./accounts";
import { shownUrl } from "./compare";
import type { AccountReport, DriftReport, PendingCreateReport, StackReport } from "./report";
import { byName, changedMeanwhile, type Scan, type StackScan } from "./scan";

/* The lines that a person runs: they continue after a killed run, put back drift, or take over what a lost state had. */

/** Adds the pending creates to the report of a stack, with what is on their URLs. */
export async function findLeft(
  { report, creates, accounts, again }: StackScan,
  reports: ReadonlyMap<ScannedAccount, AccountReport>,
  managing: ManagingStacks,
  { stacks, masks }: Scan,
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
    // A partial look cannot tell which endpoints are in no state.
    const isWhole = account?.unchecked.length === 0 && (managing.isComplete || ofAccount?.unknown === 0);
    const isSame = ({ url }: { url: string | undefined }) => url === create.url;
    const names = stacks.filter((one) => one.creates.some(isSame)).map((one) => one.report.name);
    const others = managing.creating.filter(isSame).map(({ stack }) => stack);
    report.pendingCreates.push({
      ...{ name, urn, type, ...shownUrl(create.wanted, masks), ...replaces },
      pool: inputs["poolingEnabled"] === true,
      ...(isStillPending && isWhole && leftOf(create, account?.cloud ?? [], ofAccount, managing)),
      alsoCreating: [...new Set([...names, ...others])].filter((stack) => stack !== report.name),
    });
  }
  report.pendingCreates.sort(byName);
}

/** The endpoints on the URL of a pending create: those that no state has, those that are meant to be there, and the others. */
function leftOf(
  { wanted, url, replaced }: PendingCreate,
  cloud: readonly Endpoint[],
  report: AccountReport | undefined,
  { checked, elsewhere, creating }: ManagingStacks,
): Pick<PendingCreateReport, "pool" | "left" | "ignored" | "managed"> {
  const old = replaced?.id;
  const onUrl = cloud.filter((live) => urlOf(live) === url || live.id === old);
  const pool = [wanted.inputs, ...onUrl].some((one) => one["poolingEnabled"] === true);
  const ids = onUrl.map(({ id }) => id);
  const others = ids.filter((id) => id !== old);
  const managed = others.filter((id) => checked.has(id) || elsewhere.has(id));
  const ignored = others.filter((id) => report?.ignored.some((one) => one.id === id));
  // Outside of pools, what another stack is creating is that stack's.
  const isTheirs = !pool && creating.some((one) => one.url === url);
  const isFree = (id: string) => !isTheirs && ![...managed, ...ignored].includes(id);
  return { pool, left: ids.filter((id) => id === old || isFree(id)), ignored, managed };
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
  const first = (text: string) => ({ text, adopt: [] });
  const adopt = idsOf(pendingCreates);
  if (!adopt)
    return first(
      "what a killed run left is unchecked, and clearing the pending creates would hide it. Remedy what is unchecked, and run this command again.",
    );
  if (shared.some(({ id }) => adopt.includes(id)))
    return first(
      "an old endpoint belongs to more than one resource. Keep one, as this report says, and run this command again.",
    );
  const members = pendingCreates.filter(({ pool }) => pool);
  if (members.length > 0) return first(membersText(stack.name, members));
  const earlier = stacks.slice(0, stacks.indexOf(stack)).map(({ name }) => name);
  const other = earlier.find((name) => pendingCreates.some((one) => one.alsoCreating.includes(name)));
  if (other !== undefined)
    return first(
      `the killed run of the stack ${other} may have left the same. Follow its line first, and run this command again.`,
    );
  const ignored = [...new Set(pendingCreates.flatMap((one) => one.ignored ?? []))];
  if (ignored.length > 0)
    return first(
      `decide whether the killed run made ${ignored.join(", ")}, which a rule of \`ignore\` names. ${see("Pending creates")}`,
    );
  const target = targetOf(stack);
  const up = `pulumi up ${adopt.length > 0 ? `--config endpoints:adopt=${adopt.map(shellWord).join(",")} ` : ""}${target}`;
  const check =
    adopt.length > 0
      ? "no stack of this backend has what the line takes over. If nothing elsewhere has it (another backend, Terraform), run it"
      : "run the line";
  const text = `${check} in the folder of the project`;
  if (pendingOperations === 0) return { text, command: up, adopt };
  return {
    text: `${text}. First, if no run is in progress, unlock the stack with \`pulumi cancel ${target}\``,
    command: `pulumi refresh --yes --clear-pending-creates ${target} && ${up}`,
    adopt,
  };
}

/** What no state has on the URLs of these creates; undefined if a part is unchecked. */
function idsOf(creates: readonly PendingCreateReport[]): string[] | undefined {
  if (creates.some(({ left }) => !left)) return undefined;
  return [...new Set(creates.flatMap(({ left = [] }) => left))];
}

/** The facts of pending creates in pools. No line may follow, because members cannot be told apart. */
function membersText(stack: string, members: readonly PendingCreateReport[]): string {
  const stacks = new Set([stack, ...members.flatMap(({ alsoCreating }) => alsoCreating)]);
  const ids = idsOf(members) ?? [];
  const urls = [...new Set(members.map(({ url }) => url))].join(", ");
  const found =
    ids.length > 0 ? `no state that was read has ${ids.join(", ")}` : `nothing is left on ${urls}`;
  return `creates of ${[...stacks].join(", ")} are pending in a pool, and ${found}. \`pulumi up\` would add members. ${see("Adopt members of a pool")}`;
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
  return `pulumi preview --expect-no-changes --refresh=false ${target} && pulumi up --refresh ${target}`;
}

/**
 * The lines that take over what lost states had: all unmanaged endpoints. None while a recovery comes first, and none beside members of
 * pools that no state has, to which `pulumi up` would add.
 */
export function takeOverLines(account: AccountReport, { stacks }: DriftReport): string[] {
  const { unmanaged, creating } = account;
  const all = stacks.filter(({ name }) => account.stacks.includes(name));
  const hasMembers = unmanaged.some(({ pool }) => pool) || creating.length > 0;
  if (hasMembers || unmanaged.length === 0 || all.some(({ recovery }) => recovery !== undefined)) return [];
  const ids = unmanaged.map(({ id }) => shellWord(id)).join(",");
  const lost = all.filter(({ endpoints }) => endpoints === 0);
  return lost.map((stack) => `pulumi up --config endpoints:adopt=${ids} ${targetOf(stack)}`);
}
