import type { StepOp } from "../../testing/types";
import type { DriftedEndpoint } from "./report";
import { type DriftStack, errorsOf, type Ran } from "./stack";
import { type Survey, type Surveyed, survey } from "./survey";

type Repair = NonNullable<DriftedEndpoint["repair"]>;

/** The operations that make an endpoint what the program says. */
const REPAIRS: readonly StepOp[] = ["create", "update", "replace", "create-replacement"];

/**
 * Gives the service back what the stacks' states hold, and looks again before it says so.
 *
 * The program is run for this, since only Pulumi's engine can write an endpoint that is made anew into the state. So what is
 * not deployed yet must not slip through: an endpoint for which the program wants something else than the state holds is
 * left alone, and told. Nothing but what has drifted is touched.
 */
export async function repairAll(found: Survey, tell: (message: string) => void): Promise<Surveyed[]> {
  const results: Surveyed[] = [];
  for (const surveyed of found.stacks) {
    const { stack, report } = surveyed;
    const repairs =
      report.drifted.length > 0 ? await repair(stack, report.drifted, tell) : new Map<string, Repair>();
    const drifted = report.drifted.map((each): DriftedEndpoint => {
      const result = repairs.get(each.urn);
      return result ? { ...each, repair: result } : each;
    });
    results.push({ ...surveyed, report: { ...report, drifted } });
  }
  return results;
}

async function repair(
  stack: DriftStack,
  drifted: DriftedEndpoint[],
  tell: (message: string) => void,
): Promise<Map<string, Repair>> {
  const repairs = new Map<string, Repair>();
  const give = (urns: string[], reason: string) =>
    urns.forEach((urn) => {
      repairs.set(urn, { done: false, reason });
    });
  const all = drifted.map(({ urn }) => urn);
  let ran: Ran | undefined;
  const targets: string[] = [];
  try {
    tell(`${stack.name}: looking whether the program agrees with the state`);
    const plan = await stack.plan(all);
    if (!plan.ok) {
      give(all, `the program's preview failed: ${errorsOf(plan) ?? "without a reason"}`);
      return repairs;
    }
    for (const urn of all) {
      const reason = pendingChange(plan, urn);
      if (reason === undefined) targets.push(urn);
      else give([urn], reason);
    }
    if (targets.length === 0) return repairs;
    tell(`${stack.name}: repairing ${targets.length} of ${all.length}`);
    ran = await stack.repair(targets);
    tell(`${stack.name}: looking again`);
    const again = await survey([stack], tell);
    for (const urn of targets) repairs.set(urn, outcome(urn, ran, again));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    give(targets.length > 0 ? targets : all, reason);
  }
  return repairs;
}

/** Why a repair would do more than repair; undefined where it would not. */
function pendingChange({ steps }: Ran, urn: string): string | undefined {
  const ops = steps.filter((step) => step.urn === urn).map(({ op }) => op);
  if (ops.length > 0 && ops.every((op) => op === "same")) return undefined;
  const what =
    ops.length === 0 || ops.includes("delete")
      ? "the program does not have this endpoint any more"
      : "the program wants something else than the state holds";
  return `${what}, and --fix deploys nothing that was not deployed before: review it with \`pulumi preview\`, deploy it with \`pulumi up\`, or run --fix where the program is as it was deployed`;
}

/** Repaired is what the run has changed, or found as it should be, and what a second look shows without drift. */
function outcome(urn: string, ran: Ran, again: Survey): Repair {
  const acted = ran.ok || ran.steps.some((step) => step.urn === urn && REPAIRS.includes(step.op));
  const isBack = again.stacks.some(
    ({ seen, report }) => seen.has(urn) && !report.drifted.some((each) => each.urn === urn),
  );
  if (acted && isBack) return { done: true };
  const failed = errorsOf(ran, urn) ?? errorsOf(ran);
  if (failed === undefined) return { done: false, reason: "a second look did not show it as it should be" };
  return {
    done: false,
    reason: `${failed}. The state may hold by now what is live, so that only \`pulumi preview\` shows this drift: finish with \`pulumi up\``,
  };
}
