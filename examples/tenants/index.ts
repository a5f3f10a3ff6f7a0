import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Job, Outcome } from "./job";
import tenants from "./tenants.json";

/*
 * A stack for each tenant, all from one program:
 *
 *   npm start -- preview            what `up` would change
 *   npm start -- up                 deploys every tenant of tenants.json, four at once
 *   npm start -- up acme            deploys one of them
 *   npm start -- up --after-kill    continues after a run was killed; only while no other run is active
 *   npm start -- drift              compares every tenant with the service, and lists the account once
 *   npm start -- remove acme        deletes a tenant's endpoints and stack; then remove the tenant from tenants.json
 *
 * The option --at-once sets how many stacks run at once. After a failure, the others go on, and the exit code is 1. tenant.ts has
 * the program, job.ts runs Pulumi. Run `npm install`, log in to a backend, and set ENDPOINTS_BASE_URL and ENDPOINTS_API_KEY
 * first.
 */

/** The requests that the service accepts from the account in a minute. */
const BUDGET = 120;

const commands = ["up", "preview", "remove"] as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "at-once": { type: "string", default: "4" },
      "after-kill": { type: "boolean", default: false },
    },
  });
  const [name, ...names] = positionals;
  const unknown = names.find((name) => !tenants.some((tenant) => tenant.name === name));
  if (unknown) throw new Error(`there is no tenant ${unknown} in tenants.json`);
  const chosen = tenants.filter((tenant) => names.length === 0 || names.includes(tenant.name));
  if (name === "drift") {
    const stacks = chosen.flatMap((tenant) => ["--stack", tenant.name]);
    const { status } = spawnSync("npx", ["pulumi-endpoints", "drift", ...stacks], { stdio: "inherit" });
    process.exitCode = status ?? 1;
    return;
  }
  const command = commands.find((command) => command === name);
  if (!command) throw new Error("give a command: up, preview, drift or remove");
  if (command === "remove" && names.length === 0) throw new Error("name the tenants to remove");
  const atOnce = Math.min(Number(values["at-once"]), chosen.length);
  if (!(atOnce >= 1)) throw new Error("--at-once must be a positive number");

  Object.assign(process.env, {
    // Each stack's share of the budget. It is no setting of the stack, because `destroy` would then use the share of the last `up`.
    ENDPOINTS_REQUESTS_PER_WINDOW: `${Math.max(1, Math.floor(BUDGET / atOnce))}`,
    ENDPOINTS_LOG: "requests",
  });
  const waiting = [...chosen];
  // After Ctrl-C, no other tenant begins. Running tenants end as they do after Ctrl-C on `pulumi`.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => waiting.splice(0));
  const table = Object.fromEntries(chosen.map(({ name }) => [name, { result: "not begun" }]));
  const work = async () => {
    for (let tenant = waiting.shift(); tenant; tenant = waiting.shift()) {
      const began = performance.now();
      const { errors, ...row } = await run({ command, tenant, afterKill: values["after-kill"] });
      const seconds = Math.round((performance.now() - began) / 1000);
      table[tenant.name] = Object.assign(row, { seconds });
      for (const line of [row.result, ...errors]) console.error(`${tenant.name}: ${line}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  console.table(table);
  if (Object.values(table).some(({ result }) => /^(failed|not begun)/.test(result))) process.exitCode = 1;
}

/** Runs a job in its own process. Pulumi blames an uncaught error of one program on every program in the same process. */
async function run(job: Job): Promise<Outcome> {
  const child = fork(join(__dirname, "job.js"));
  let outcome: Outcome = { result: "failed", requests: 0, refused: 0, errors: ["its process was killed"] };
  child.on("message", (message: Outcome) => {
    outcome = message;
  });
  child.send(job);
  await once(child, "disconnect");
  return outcome;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
