import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { contestants, drivers } from "./cells";
import type { Plan } from "./units";

export const HELP = `Measures this package beside a plain dynamic provider, a provider that does nothing, and raw requests.

Usage: npm run bench -- [what] [options]

  (nothing)          measure what has not been measured yet, then render
  --render           only render tables, plots and checks from the raw results
  --check            render, and exit with 1 where a claim does not hold or was not measured
  --budget           500 endpoints within 120 requests a minute, on a simulated clock
  --advice           what large stacks cost on the CLI, and what helps: settings of Pulumi, several stacks

  --runs N           rounds (default: 5)
  --sizes A,B        how many endpoints (default: 10,100,500,1000)
  --drivers A,B      of ${drivers.join(", ")} (default: all that there are)
  --contestants A,B  of ${contestants.join(", ")} (default: all)
  --busy             do not wait, before each contestant, until nobody else uses the machine
  --out FOLDER       where results are kept (default: test/bench/results)

A run that is ended can be started again: what has been measured stays.`;

/** The repository, seen from the compiled benchmark. */
export const REPOSITORY = resolve(__dirname, "../../../../..");

const text = { type: "string" } as const;
const flag = { type: "boolean", default: false } as const;

export type What = "measure" | "render" | "check" | "budget" | "advice";

export interface Options {
  what: What;
  plan: Plan;
  busy: boolean;
  out: string;
}

/** @throws Error for options that make no sense; undefined where help is asked for. */
export function readOptions(args: string[]): Options | undefined {
  const modes = { render: flag, check: flag, budget: flag, advice: flag };
  const { values } = parseArgs({
    args,
    options: {
      ...modes,
      runs: text,
      sizes: text,
      drivers: text,
      contestants: text,
      out: text,
      busy: flag,
      help: flag,
    },
  });
  if (values.help) return undefined;
  const what = (["render", "check", "budget", "advice"] as const).find((mode) => values[mode]);
  return {
    what: what ?? "measure",
    busy: values.busy,
    plan: {
      runs: whole("--runs", values.runs ?? "5"),
      sizes: (values.sizes ?? "10,100,500,1000").split(",").map((size) => whole("--sizes", size)),
      drivers: among("--drivers", values.drivers, drivers),
      contestants: among("--contestants", values.contestants, contestants),
    },
    out: resolve(values.out ?? join(REPOSITORY, "test/bench/results")),
  };
}

function whole(option: string, given: string): number {
  if (/^[1-9]\d{0,4}$/.test(given)) return Number(given);
  throw new Error(`${option} takes whole numbers above zero, not ${JSON.stringify(given)}`);
}

function among<T extends string>(option: string, given: string | undefined, known: readonly T[]): T[] {
  const names = given?.split(",") ?? known;
  return names.map((name) => {
    const found = known.find((each) => each === name);
    if (found === undefined) throw new Error(`${option} takes ${known.join(", ")}, not ${name}`);
    return found;
  });
}
