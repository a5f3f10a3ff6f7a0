import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Emulator } from "../../../sdk/testing";
import type { Read } from "./rawFile";
import { megabytes, pageHead, seconds, table } from "./text";

/* Measures `examples/tenants` on the CLI within the rate limit of the public service: the same endpoints in one stack and in many. */

const ENDPOINTS = 500;
const RATE_LIMIT = { requests: 120, windowSeconds: 60 };

/** The number of stacks, and how many of them run at once. */
export const tenantPlans = [
  [1, 1],
  [20, 4],
] as const;

export const tenantsRow = z.object({
  stacks: z.number(),
  atOnce: z.number(),
  /** The first `up`, and one without a change. */
  operation: z.enum(["up", "up again"]),
  seconds: z.number(),
  requests: z.number(),
  /** How many of the requests the service refused because of its rate limit. */
  refused: z.number(),
  /** The processor time of all processes. Unlike `seconds`, it does not depend on what else the machine does. */
  processor: z.number(),
  /** The peak memory of all processes together, each shared page counted once. */
  bytes: z.number(),
});
export type TenantsRow = z.output<typeof tenantsRow>;
type Measured = Omit<TenantsRow, "stacks" | "atOnce">;

/** Deploys the endpoints, and deploys them again without a change. */
export async function* measureTenants(stacks: number, atOnce: number): AsyncGenerator<Measured> {
  const emulator = await Emulator.start({ rateLimit: RATE_LIMIT });
  emulator.intercept(() => true, { afterCommit: true, delayMs: 20 }, Number.POSITIVE_INFINITY);
  mkdirSync(PROGRAMS, { recursive: true });
  const folder = mkdtempSync(join(PROGRAMS, "tenants-"));
  cpSync(EXAMPLE, folder, { recursive: true });
  const tenants = Array.from({ length: stacks }, (_, index) => tenant(`tenant${index}`, ENDPOINTS / stacks));
  writeFileSync(join(folder, "tenants.json"), JSON.stringify(tenants));
  execFileSync("npx", ["tsc"], { cwd: folder, stdio: "pipe" });
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "only for the benchmark",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  try {
    for (const operation of ["up", "up again"] as const) {
      const before = emulator.requests.length;
      const processorBefore = await processorOfChildren();
      const began = performance.now();
      const child = spawn(process.execPath, ["bin/index.js", "up", "--at-once", `${atOnce}`], {
        cwd: folder,
        env,
        stdio: ["ignore", "inherit", "inherit"],
      });
      const memory = new TreeWatch(child);
      const [code] = await once(child, "exit");
      const seconds = (performance.now() - began) / 1000;
      const bytes = await memory.stop();
      const processor = (await processorOfChildren()) - processorBefore;
      if (code !== 0 || emulator.endpoints.length !== ENDPOINTS) {
        throw new Error(`${operation} ended with ${code} and left ${emulator.endpoints.length} endpoints`);
      }
      const requests = emulator.requests.slice(before);
      const refused = requests.filter(({ status }) => status === 429).length;
      yield { operation, seconds, requests: requests.length, refused, processor, bytes };
    }
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Relative to the compiled benchmark. */
const EXAMPLE = join(__dirname, "../../../../../../examples/tenants");
const PROGRAMS = join(__dirname, "programs");

const tenant = (name: string, count: number) => ({
  name,
  hosts: Array.from({ length: count }, (_, index) => `h${index}.${name}.example.com`),
});

/** The kernel's clock ticks in a second, on every Linux that supports Node.js. */
const TICKS = 100;

/** Adds up the memory of a process and all of its descendants in Linux's /proc. */
class TreeWatch {
  private most = 0;
  private looking: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;

  constructor(child: ChildProcess) {
    this.timer = setInterval(() => {
      this.looking = this.looking.then(() => this.look(`${child.pid}`));
    }, 500);
  }

  async stop(): Promise<number> {
    clearInterval(this.timer);
    await this.looking;
    return this.most;
  }

  private async look(root: string): Promise<void> {
    const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
    const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)));
    const isWithin = (pid: string | undefined): boolean =>
      pid === root || (pid !== undefined && isWithin(parents.get(pid)));
    const sizes = await Promise.all(pids.filter(isWithin).map(bytesOf));
    this.most = Math.max(
      this.most,
      sizes.reduce((sum, bytes) => sum + bytes, 0),
    );
  }
}

/** The processor time of all ended processes that this one has started, and of their children, in seconds. */
async function processorOfChildren(): Promise<number> {
  const fields = fieldsOf(await read("self", "stat"));
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

const parentOf = async (pid: string) => fieldsOf(await read(pid, "stat"))[1];

/** The fields of a process after its name, which is in parentheses and can contain spaces. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

/** The proportional set size: of a page that several processes share, each has its part. */
async function bytesOf(pid: string): Promise<number> {
  const [, kilobytes = "0"] = /^Pss:\s+(\d+) kB$/m.exec(await read(pid, "smaps_rollup")) ?? [];
  return Number(kilobytes) * 1024;
}

const read = (pid: string, name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");

const HOW = `\`examples/tenants\` on the Pulumi CLI, with the state in a local folder (\`file://\`) and ${ENDPOINTS} endpoints in all. The service answers after
20 ms and accepts ${RATE_LIMIT.requests} requests in ${RATE_LIMIT.windowSeconds} seconds. Memory is the peak of all processes together.
`;

export function tenantsPage({ lines, ...head }: Read<TenantsRow>): string {
  const rows = lines.map((line) => [
    line.stacks === 1 ? "one stack" : `${line.stacks} stacks, ${line.atOnce} at once`,
    line.operation,
    seconds(line.seconds),
    seconds(line.processor),
    `${line.requests}`,
    `${line.refused}`,
    megabytes(line.bytes),
  ]);
  const columns = ["", "command", "time, s", "processor time, s", "requests", "of them 429", "memory"];
  return [
    pageHead("Stacks for tenants on the Pulumi CLI", head, "npm run bench -- --tenants"),
    HOW,
    table(columns, rows),
    "",
  ].join("\n\n");
}
