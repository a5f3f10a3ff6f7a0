// Longer runs of the fault suite. Without options, a run is as long as in `npm run test:slow`.
//   npm run test:faults -- --runs 1000 [--seed N] [--pools]   random runs of events and faults
//   npm run test:faults -- --kills 20    real processes that are killed during 100 creates
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const text = { type: "string" };
const flag = { type: "boolean" };
const { values } = parseArgs({ options: { runs: text, seed: text, kills: text, pools: flag } });
// Node.js leaves out undefined variables.
const env = {
  ...process.env,
  FAULT_RUNS: values.runs,
  FAULT_SEED: values.seed,
  FAULT_POOLS: values.pools && "1",
  KILLS: values.kills,
};
const file = values.kills ? "kills" : "faults";
const { status } = spawnSync("npx", ["vitest", "run", `test/faults/${file}`], { env, stdio: "inherit" });
process.exitCode = status ?? 1;
