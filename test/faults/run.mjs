// The fault suite at length; without options, as long as in `npm test`.
//   npm run test:faults -- --runs 1000 [--seed N]          stories of steps and faults
//   npm run test:faults -- --kills 20 [--endpoints 100]    real processes, killed in the middle of creates
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values } = parseArgs({ options: { runs: text, seed: text, kills: text, endpoints: text } });
const files = values.kills ? ["test/faults/kills.test.ts"] : ["test/faults/faults.test.ts"];
const env = {
  ...process.env,
  ...(values.runs && { FAULT_RUNS: values.runs }),
  ...(values.seed && { FAULT_SEED: values.seed }),
  ...(values.kills && { KILLS: values.kills, KILL_ENDPOINTS: values.endpoints ?? "100" }),
};
const { status } = spawnSync("npx", ["vitest", "run", ...files], { env, stdio: "inherit" });
process.exitCode = status ?? 1;
