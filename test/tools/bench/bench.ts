import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { contestants, type Measured, measure, operations, type Unit } from "./runs";
import { measureStacks } from "./stacks";

const HELP = `Measures this package against a provider that does nothing, whose time is the engine's share.

Usage: npm run bench -- [options]

  (nothing)       measure up, preview, refresh, update and destroy
  --stacks        measure a drift of 50 stacks in 5 projects on the CLI, three times

  --runs N        number of rounds, in which both take turns (default: 5)
  --sizes A,B     numbers of endpoints, each with a policy of 1 KB (default: 10,100,500)
  --driver NAME   kit or cli (default: cli)
  --out FILE      all measurements as JSON (default: results.json beside the compiled benchmark)`;

const positive = z.coerce.number().int().positive();
const options = z.object({
  runs: positive,
  sizes: z.string().transform((text) => z.array(positive).parse(text.split(","))),
  driver: z.enum(["kit", "cli"]),
  out: z.string(),
});
type Options = z.output<typeof options>;

async function main(): Promise<void> {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      ...{ stacks: flag, help: flag },
      runs: { type: "string", default: "5" },
      sizes: { type: "string", default: "10,100,500" },
      driver: { type: "string", default: "cli" },
      out: { type: "string", default: join(__dirname, "results.json") },
    },
  });
  if (values.help) return console.log(HELP);
  if (!values.stacks) return await compare(options.parse(values));
  for (const { seconds, requests, memory } of await measureStacks(3))
    console.log(`${seconds.toFixed(0)} s, ${requests} requests, at most ${memory} MB`);
}

/** Measures, prints a table of medians, and writes all measurements. */
async function compare({ out, ...plan }: Options): Promise<void> {
  const measured: Measured[] = [];
  for (const unit of unitsOf(plan))
    for await (const one of measure(unit)) {
      measured.push(one);
      const { round, size, contestant, operation, seconds } = one;
      console.error(`round ${round}, ${size}, ${contestant}: ${operation} ${seconds.toFixed(2)} s`);
    }
  console.log(`${thisMachine()}\n\n${tableOf(measured, plan.sizes)}`);
  writeFileSync(out, JSON.stringify({ machine: thisMachine(), measured }, undefined, 1));
}

/** All units, round by round. The first contestant of a round is the second one of the next. */
const unitsOf = ({ runs, sizes, driver }: Omit<Options, "out">): Unit[] =>
  Array.from({ length: runs }, (_, index) => index + 1).flatMap((round) =>
    sizes.flatMap((size) => {
      const order = round % 2 === 1 ? contestants : contestants.toReversed();
      return order.map((contestant) => ({ round, size, driver, contestant }));
    }),
  );

/** Ratios compare runs of the same round, so that other work of the machine affects both alike. */
function tableOf(measured: Measured[], sizes: number[]): string {
  const lines = operations.flatMap((operation) =>
    sizes.map((size) => {
      const [ours = [], noop = []] = contestants.map((contestant) =>
        measured.filter(
          (one) => one.contestant === contestant && one.operation === operation && one.size === size,
        ),
      );
      const ratios = ours.map(({ round, seconds }) => {
        const other = noop.find((one) => one.round === round)?.seconds ?? Number.NaN;
        return seconds / other;
      });
      const [median, ofNoop] = [ours, noop].map((all) => medianOf(all.map(({ seconds }) => seconds)));
      const [last] = ours.slice(-1);
      const requests = Object.entries(last?.requests ?? {}).map(([method, count]) => `${count} ${method}`);
      const state = ((last?.stateBytes ?? 0) / 1000).toFixed(0);
      return [
        operation,
        size,
        median?.toFixed(2),
        ofNoop?.toFixed(2),
        medianOf(ratios).toFixed(2),
        requests,
        state,
      ];
    }),
  );
  const head = ["", "endpoints", "ours, s", "noop, s", "ours / noop", "requests, ours", "state, KB"];
  return [head, head.map(() => "---"), ...lines].map((parts) => `| ${parts.join(" | ")} |`).join("\n");
}

function medianOf(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The day, the commit, and what else the times depend on. */
function thisMachine(): string {
  const versionOf = (command: string, ...args: string[]) => {
    try {
      return execFileSync(command, args, { encoding: "utf8", stdio: "pipe" }).trim();
    } catch {
      return "none";
    }
  };
  return [
    new Date().toISOString().slice(0, 10),
    `commit ${versionOf("git", "describe", "--always", "--dirty", "--exclude", "*")}`,
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}, ${process.platform})`,
    `Node.js ${process.version}`,
    `Pulumi CLI ${versionOf("pulumi", "version")}`,
  ].join(", ");
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
