import type { Schedule } from "../model/phase";
import type { Run, Scenario } from "./scenario";

/* The schedules with which a scenario runs. */

/** The modes of a schedule by the engine's parallelism. */
const modes = { parallel: ["together", "late"], serial: ["one by one", "planned"] } as const;

/** All schedules that could make a difference to the scenario. */
export function schedulesOf(scenario: Scenario): Schedule[] {
  const { from = {}, fromKilled = {}, runs, engine, order } = scenario;
  const programs = [from, fromKilled, ...runs.map(({ program = {} }) => program)];
  const names = [...new Set(programs.flatMap(Object.keys))];
  if (order) return modes[engine ?? "parallel"].map((mode) => ({ mode, names: order }));
  if (!hasSeveralAtOnce(scenario)) return [{ mode: engine === "serial" ? "planned" : "together", names }];
  const chosen = engine ? modes[engine] : [...modes.parallel, ...modes.serial];
  return chosen.flatMap((mode) => permutations(names).map((names) => ({ mode, names })));
}

/** Whether a run has several resources in one phase. Deletions are a phase of their own. */
function hasSeveralAtOnce({ from = {}, runs }: Scenario): boolean {
  let program = from;
  const known = new Set(Object.keys(from));
  return [{ program: from }, ...runs].some((run: Run) => {
    program = run.program ?? program;
    const wanted = Object.keys(program);
    for (const name of wanted) known.add(name);
    const removed = [...known].filter((name) => !(name in program));
    const isUp = run.command === undefined || run.command === "up";
    return isUp ? wanted.length > 1 || removed.length > 1 : (run.target?.length ?? known.size) > 1;
  });
}

const permutations = (names: string[]): string[][] =>
  names.length < 2
    ? [names]
    : names.flatMap((first) =>
        permutations(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
      );
