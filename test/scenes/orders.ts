import type { Order } from "../model/phase";
import type { Run, Scene } from "./scene";

/* The orders in which the engine may call providers in a scene. */

/** The paces of an engine. In all but `one by one`, it asks for several resources before a step has ended. */
const paces = { parallel: ["together", "late"], serial: ["one by one", "planned"] } as const;

/** All orders that the engine may choose, and that make a difference. */
export function ordersOf(scene: Scene): Order[] {
  const { from = {}, leftBy = {}, runs, engine, order } = scene;
  const programs = [from, leftBy, ...runs.map(({ program = {} }) => program)];
  const names = [...new Set(programs.flatMap(Object.keys))];
  if (order) return paces[engine ?? "parallel"].map((pace) => ({ pace, names: order }));
  if (!hasSeveralAtOnce(scene)) return [{ pace: engine === "serial" ? "planned" : "together", names }];
  const chosen = engine ? paces[engine] : [...paces.parallel, ...paces.serial];
  return chosen.flatMap((pace) => permutations(names).map((names) => ({ pace, names })));
}

/** Whether the engine may ask for several resources in one phase. Deletions have their own. */
function hasSeveralAtOnce({ from = {}, runs }: Scene): boolean {
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
