// Measures this package against a provider that does nothing, whose time is the engine's share.
//   npm run bench -- [--runs 5] [--sizes 10,100,500] [--driver kit|cli]   up, preview, refresh, update and destroy; in each run, both take turns
//   npm run bench -- --stacks                                            a drift of 50 stacks in 5 projects on the CLI, three times
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Emulator, TestStack } from "pulumi-endpoints/testing";
import programs from "./contestants.cjs";
import { measureStacks } from "./stacks.mjs";

const { changedCount, NOOP_PACKAGE } = programs;
const contestants = ["ours", "noop"];

/** In the order in which a stack runs them, with the steps of each: a contestant that skips some must not look faster. */
const operations = {
  create: [(stack) => stack.up({ skipPreview: true }), ["create"], (size) => size],
  preview: [(stack) => stack.preview({ expectNoChanges: true }), ["same"], (size) => size],
  refresh: [(stack) => stack.refresh({ expectNoChanges: true }), ["refresh", "same"], (size) => size],
  update: [(stack) => stack.up({ skipPreview: true }), ["update"], changedCount],
  destroy: [(stack) => stack.destroy(), ["delete"], (size) => size],
};

/** Long enough for a thousand resources on the CLI. Unit: seconds. */
const MAX_RUN = 3600;

const { values } = parseArgs({
  options: {
    stacks: { type: "boolean" },
    runs: { type: "string", default: "5" },
    sizes: { type: "string", default: "10,100,500" },
    driver: { type: "string", default: "cli" },
  },
});
if (values.stacks) {
  for (const { seconds, requests, memory } of await measureStacks(3))
    console.log(`${seconds.toFixed(0)} s, ${requests} requests, at most ${memory} MB`);
} else {
  const sizes = values.sizes.split(",").map(Number);
  const measured = [];
  for (let round = 1; round <= Number(values.runs); round++)
    // The first contestant of a round is the second one of the next.
    for (const size of sizes)
      for (const contestant of round % 2 === 1 ? contestants : contestants.toReversed())
        measured.push(...(await measure(contestant, round, size)));
  console.log(`${thisMachine()}\n\n${tableOf(measured, sizes)}`);
}

/** Measures each operation on a new service, which answers after 20 ms and has no rate limit. */
async function measure(contestant, round, size) {
  const emulator = await Emulator.start();
  emulator.intercept(() => true, { afterCommit: true, delayMs: 20 }, Number.POSITIVE_INFINITY);
  const program = newProgram(contestant);
  const stack = await TestStack.create({
    ...{ driver: values.driver, program, emulator, longestRun: MAX_RUN },
    env: { ENDPOINTS_REQUESTS_PER_WINDOW: "1000000" },
    config: { "endpoints:baseUrl": emulator.baseUrl, "endpoints:apiKey": { secret: emulator.apiKey } },
  });
  try {
    const measured = [];
    for (const [operation, [run, ops, countOf]] of Object.entries(operations)) {
      const declared = `require(${JSON.stringify(join(import.meta.dirname, "contestants.cjs"))})`;
      const isChanged = operation === "update";
      writeFileSync(join(program, "index.js"), `${declared}.${contestant}(${size}, ${isChanged});\n`);
      const before = emulator.requests.length;
      const { seconds, steps } = await run(stack);
      const seen = steps.filter(({ op }) => ops.includes(op)).length;
      if (seen !== countOf(size)) throw new Error(`${contestant}: ${operation} made ${seen} steps ${ops}`);
      const requests = {};
      for (const { method } of emulator.requests.slice(before))
        requests[method] = (requests[method] ?? 0) + 1;
      const stateBytes = Buffer.byteLength(JSON.stringify(await stack.exportState()));
      measured.push({ contestant, round, size, operation, seconds, requests, stateBytes });
      console.error(`round ${round}, ${size}, ${contestant}: ${operation} ${seconds.toFixed(2)} s`);
    }
    return measured;
  } finally {
    await stack.close();
    await emulator.close();
    rmSync(program, { recursive: true, force: true });
  }
}

/** A folder for the contestant's program, in the repository, so that it loads the package as a user's program does. */
function newProgram(contestant) {
  const within = join(import.meta.dirname, "../../.programs");
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, `${contestant}-`));
  // In JavaScript, so that no compiler is measured.
  const project = "name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n";
  writeFileSync(join(folder, "Pulumi.yaml"), project);
  writeFileSync(join(folder, "package.json"), '{"name": "bench", "main": "index.js"}\n');
  if (contestant === "noop") {
    // The provider's process loads packages only from `node_modules`.
    const installed = join(folder, "node_modules", NOOP_PACKAGE);
    mkdirSync(installed, { recursive: true });
    const provider = JSON.stringify(join(import.meta.dirname, "noopProvider.cjs"));
    writeFileSync(join(installed, "provider.js"), `module.exports = require(${provider});\n`);
  }
  return folder;
}

/** Medians. Ratios compare runs of the same round, so that other work of the machine affects both alike. */
function tableOf(measured, sizes) {
  const lines = Object.keys(operations).flatMap((operation) =>
    sizes.map((size) => {
      const [ours, noop] = contestants.map((contestant) =>
        measured
          .filter((one) => one.contestant === contestant && one.operation === operation && one.size === size)
          .sort((one, other) => one.round - other.round),
      );
      const ratios = ours.map(({ seconds }, index) => seconds / noop[index].seconds);
      const [seconds, ofNoop] = [ours, noop].map((all) => medianOf(all.map(({ seconds }) => seconds)));
      const shown = [ours, noop].map(([{ requests, stateBytes }]) => {
        const counts = Object.entries(requests).map(([method, count]) => `${count} ${method}`);
        return [counts.join(), (stateBytes / 1000).toFixed(1)];
      });
      return [
        operation,
        size,
        seconds.toFixed(2),
        ofNoop.toFixed(2),
        medianOf(ratios).toFixed(2),
        ...shown.flat(),
      ];
    }),
  );
  const head = [
    "",
    "endpoints",
    "ours, s",
    "noop, s",
    "ours / noop",
    "requests",
    "state, KB",
    "of noop",
    "of noop, KB",
  ];
  return [head, head.map(() => "---"), ...lines].map((parts) => `| ${parts.join(" | ")} |`).join("\n");
}

function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** The day, the commit, and what else the times depend on. */
function thisMachine() {
  const printed = (command, ...args) => {
    try {
      return execFileSync(command, args, { encoding: "utf8", stdio: "pipe" }).trim();
    } catch {
      return "none";
    }
  };
  return [
    new Date().toISOString().slice(0, 10),
    `commit ${printed("git", "describe", "--always", "--dirty", "--exclude", "*")}`,
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}, ${process.platform})`,
    `Node.js ${process.version}`,
    `Pulumi CLI ${printed("pulumi", "version")}`,
  ].join(", ");
}
