import type { StepOp } from "../../testing/types";
import type { Held } from "./held";
import { type Around, interrupted } from "./interruption";
import type { DriftedEndpoint } from "./report";
import { type DriftStack, errorsOf, type Ran } from "./stack";
import { type Survey, type Surveyed, survey } from "./survey";
import { unseen } from "./unseen";

type Repair = NonNullable<DriftedEndpoint["repair"]>;

/** The operations that make an endpoint what the program says. */
const REPAIRS: readonly StepOp[] = ["create", "update", "replace", "create-replacement"];

/** What was done about a stack, before anybody has looked again. */
interface Attempt {
  surveyed: Surveyed;
  /** Why not, of those that were left alone. */
  left: Map<string, string>;
  /** The run that repaired the others; undefined where there was none. */
  ran: Ran | undefined;
}

/**
 * Gives the service back what the stacks' states held, and looks again before it says so.
 *
 * The program is run for this, since only Pulumi's engine can write an endpoint that is made anew into the state. So what is
 * not deployed yet must not slip through: an endpoint for which the program wants something else than the state holds is
 * left alone, and told. Nothing but what has drifted is touched.
 */
export async function repairAll(found: Survey, around: Around): Promise<Survey> {
  const attempts: Attempt[] = [];
  for (const surveyed of found.stacks) attempts.push(await attempt(surveyed, around));

  const ran = attempts.filter(({ ran }) => ran !== undefined).map(({ surveyed }) => surveyed);
  if (ran.length === 0) return { ...found, stacks: attempts.map((each) => told(each, undefined)) };
  const others = found.stacks.filter((surveyed) => !ran.includes(surveyed));
  around.tell("looking again");
  const again = await survey(
    ran.map(({ stack }) => stack),
    around,
    { meant: meantOf(ran), sources: others.flatMap(({ sources }) => sources) },
  );
  const second = (attempt: Attempt) =>
    again.stacks.find(({ stack }) => attempt.ran && stack === attempt.surveyed.stack);
  return { stacks: attempts.map((each) => told(each, second(each))), accounts: again.accounts };
}

/** Of what was to be repaired, what it was meant to be: the states themselves may hold what is live by now. */
function meantOf(surveyed: Surveyed[]): Map<string, Held> {
  return new Map(
    surveyed.flatMap(({ held = [], report }) =>
      held
        .filter(({ urn, isOld }) => !isOld && report.drifted.some((each) => each.urn === urn))
        .map((each) => [each.urn, each] as const),
    ),
  );
}

async function attempt(surveyed: Surveyed, { tell, stopped }: Around): Promise<Attempt> {
  const { stack, report } = surveyed;
  const left = new Map<string, string>();
  const all = report.drifted.map(({ urn }) => urn);
  const targets = () => all.filter((urn) => !left.has(urn));
  const leaveAll = (reason: string) => targets().forEach((urn) => void left.set(urn, reason));
  const leave = (why: (urn: string) => string | undefined) => {
    for (const urn of targets()) {
      const reason = why(urn);
      if (reason !== undefined) left.set(urn, reason);
    }
  };
  const attempted = (ran?: Ran): Attempt => ({ surveyed, left, ran });
  const begin = (message: string) => {
    if (stopped.aborted) throw interrupted();
    tell(`${stack.name}: ${message}`);
  };
  if (all.length === 0) return attempted();
  try {
    begin("looking whether the program agrees with the state");
    const plan = await stack.plan();
    if (!plan.ok) leaveAll(`the program's preview failed: ${errorsOf(plan) ?? "without a reason"}`);
    leave((urn) => pendingChange(plan, urn));
    if (targets().length === 0) return attempted();

    begin("previewing the repair");
    const rehearsal = await stack.rehearse(targets());
    if (!rehearsal.ok) leaveAll(`the repair's preview failed: ${errorsOf(rehearsal) ?? "without a reason"}`);
    leave((urn) => adoption(surveyed, rehearsal, urn));
    if (targets().length === 0) return attempted();

    begin(`repairing ${targets().length} of ${all.length}`);
    return attempted(await run(stack, targets()));
  } catch (error) {
    leaveAll(messageOf(error));
    return attempted();
  }
}

/** A run that has begun may have done something, however it ended: it has to be looked at. */
async function run(stack: DriftStack, targets: string[]): Promise<Ran> {
  try {
    return await stack.repair(targets);
  } catch (error) {
    return { ok: false, steps: [], diagnostics: [{ severity: "error", message: messageOf(error) }] };
  }
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

/** What stands on the URL of an endpoint that is made anew may be somebody else's, and `adopt` would take it over. */
function adoption({ held = [], report }: Surveyed, { steps }: Ran, urn: string): string | undefined {
  const adopts = held.some((each) => each.urn === urn && !each.isOld && each.inputs["adopt"] === true);
  const isGone = report.drifted.some((each) => each.urn === urn && each.drift === "deleted");
  const isMadeAnew = steps.some((step) => step.urn === urn && /^(create|replace)/.test(step.op));
  if (!adopts || !(isGone || isMadeAnew)) return undefined;
  return "the program would adopt whatever is on this URL now: take `adopt` out of the program, or run `pulumi up`";
}

/** The stack's report with what became of each endpoint. */
function told({ surveyed, left, ran }: Attempt, again: Surveyed | undefined): Surveyed {
  const { report } = surveyed;
  const drifted = report.drifted.map((each): DriftedEndpoint => {
    const reason = left.get(each.urn);
    if (reason !== undefined) return { ...each, repair: { done: false, ...refusal(reason) } };
    return ran ? { ...each, repair: outcome(each.urn, ran, again) } : each;
  });
  return { ...surveyed, held: again ? again.held : surveyed.held, report: { ...report, drifted } };
}

/** Repaired is what the run has changed, or found as it should be, and what a second look shows as it was meant to be. */
function outcome(urn: string, ran: Ran, again: Surveyed | undefined): Repair {
  const acted = ran.ok || ran.steps.some((step) => step.urn === urn && REPAIRS.includes(step.op));
  const isSeen = again?.seen.has(urn) === true;
  const isBack = isSeen && !again.report.drifted.some((each) => each.urn === urn);
  if (acted && isBack) return { done: true };
  const blind = isSeen ? [] : (again?.report.unseen ?? []).map(({ reason }) => reason);
  const failed = errorsOf(ran, urn) ?? errorsOf(ran) ?? blind[0];
  const reason = failed ?? "a second look did not show it as it should be";
  return {
    done: false,
    ...refusal(
      `${reason.replace(/\.+$/, "")}. The state may hold by now what is live, so that only \`pulumi preview\` shows this drift: finish with \`pulumi up\``,
    ),
  };
}

function refusal(reason: string): Omit<Repair, "done"> {
  const { authentication } = unseen("", reason);
  return { reason, ...(authentication && { authentication }) };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
