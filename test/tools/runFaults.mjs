// Longer runs of the fault suite. Without options, a run is as long as in `npm run test:slow`.
//   npm run test:faults -- --runs 1000 [--seed N] [--marks] [--pools]   random stories of steps and faults
//   npm run test:faults -- --kills 20 [--endpoints 100]    real processes that are killed during creates
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values } = parseArgs({
  options: {
    ...{ runs: text, seed: text, kills: text, endpoints: text },
    ...{ marks: { type: "boolean" }, pools: { type: "boolean" } },
  },
});
const file = values.kills ? "kills" : "faults";
const env = {
  ...process.env,
  ...(values.runs && { FAULT_RUNS: values.runs }),
  ...(values.seed && { FAULT_SEED: values.seed }),
  ...(values.marks && { FAULT_MARKS: "1" }),
  ...(values.pools && { FAULT_POOLS: "1" }),
  ...(values.kills && { KILLS: values.kills, KILL_ENDPOINTS: values.endpoints ?? "100" }),
};
const { status } = spawnSync("npx", ["vitest", "run", `test/faults/${file}`], {
  env,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
