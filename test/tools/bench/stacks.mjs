import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Emulator } from "pulumi-endpoints/testing";

/* `drift` of many stacks in many projects on one account, beside the endpoints of agents. */

const ROOT = resolve(import.meta.dirname, "../../..");
const PROJECTS = 5;
const STACKS = 10;
const ENDPOINTS = 10;
const AGENTS = 20_000;

/**
 * Deploys the stacks, then measures a `drift` of all, again and again: its seconds and requests, and the most memory of the
 * command and all processes under it, in MB.
 */
export async function measureStacks(runs) {
  // Below the repository, where programs find their packages.
  mkdirSync(join(ROOT, "test/.programs"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "test/.programs/stacks-"));
  const emulator = await Emulator.start();
  try {
    mkdirSync(join(folder, "backend"));
    const env = {
      ...process.env,
      PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ENDPOINTS_BASE_URL: emulator.baseUrl,
      ENDPOINTS_API_KEY: emulator.apiKey,
      ENDPOINTS_REQUESTS_PER_WINDOW: "100000",
      ENDPOINTS_LIST_FILTER: "on",
    };
    for (let index = 0; index < AGENTS; index++)
      emulator.seed({ type: "ephemeral", url: `https://agent-${index}.example.app` });
    for (let project = 0; project < PROJECTS; project++) {
      const cwd = join(folder, `project-${project}`);
      mkdirSync(cwd);
      writeFileSync(
        join(cwd, "Pulumi.yaml"),
        `name: project-${project}\nruntime: {name: nodejs, options: {typescript: false}}\n`,
      );
      writeFileSync(join(cwd, "package.json"), '{"name": "bench", "main": "index.js"}\n');
      writeFileSync(join(cwd, "index.js"), programOf(project));
      for (let stack = 0; stack < STACKS; stack++) {
        await pulumi(["stack", "init", `s${stack}`], { cwd, env });
        await pulumi(["up", "--yes", "--skip-preview", "--stack", `s${stack}`], { cwd, env });
        console.error(`deployed ${project * STACKS + stack + 1} of ${PROJECTS * STACKS} stacks`);
      }
    }
    const file = join(folder, "stacks.yaml");
    const listed = Array.from({ length: STACKS }, (_, stack) => `s${stack}`).join(", ");
    writeFileSync(file, `projects: [{folder: "project-*", stacks: [${listed}]}]\n`);
    const measured = [];
    for (let run = 0; run < runs; run++) {
      const before = emulator.requests.length;
      const result = await timed(file, env);
      measured.push({ ...result, requests: emulator.requests.length - before });
    }
    return measured;
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const programOf = (project) => `
const pulumi = require("@pulumi/pulumi");
const { CloudEndpoint } = require("pulumi-endpoints");
for (let index = 0; index < ${ENDPOINTS}; index++)
  new CloudEndpoint("e" + index, {
    url: "https://e" + index + "." + pulumi.getStack() + ".p${project}.example.com",
    trafficPolicy: { on_http_request: [{ actions: [{ type: "deny" }] }] },
  });
`;

const pulumi = (args, options) => promisify(execFile)("pulumi", [...args, "--non-interactive"], options);

async function timed(file, env) {
  const began = performance.now();
  const main = join(ROOT, "dist/sdk/commands/main.js");
  const args = [main, "drift", "--projects", file];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (part) => {
    text += part;
  });
  let memory = 0;
  const timer = setInterval(() => {
    memory = Math.max(memory, memoryUnder(child.pid ?? 0));
  }, 250);
  const code = await new Promise((done) => child.on("close", done));
  clearInterval(timer);
  if (code !== 0) throw new Error(`drift ended with ${code}:\n${text}`);
  return { seconds: (performance.now() - began) / 1000, memory: memory >> 10 };
}

/** The resident memory of a process and its descendants, in KB. Linux only. */
function memoryUnder(root) {
  const parents = new Map();
  for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const field = (key) => Number(new RegExp(`^${key}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
      parents.set(Number(name), { parent: field("PPid"), memory: field("VmRSS") });
    } catch {
      // It has ended.
    }
  const isUnder = (pid) => pid === root || (pid > 1 && isUnder(parents.get(pid)?.parent ?? 0));
  return [...parents].reduce((sum, [pid, { memory }]) => sum + (isUnder(pid) ? memory : 0), 0);
}
