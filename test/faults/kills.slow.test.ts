import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { CONNECTIONS } from "../../provider/api/client";
import { Emulator, findPulumiCli, RunFailed, type Stack, TestStack } from "../../sdk/testing";
import { newProject } from "../folders";

/*
 * Kills real processes during many creates, and then follows the documented recovery: `pulumi cancel`,
 * `pulumi refresh --clear-pending-creates`, `pulumi up`. A longer run: npm run test:faults -- --kills 20
 */
const repeats = Number(process.env["KILLS"] ?? 1);
const count = Number(process.env["KILL_ENDPOINTS"] ?? 30);
const cli = await findPulumiCli();

/** The signal that ends a run, and whether the engine's child processes get it too. */
const deaths = {
  "SIGINT to the engine": { signal: "SIGINT", all: false },
  "SIGKILL to the engine": { signal: "SIGKILL", all: false },
  "SIGKILL to all its processes": { signal: "SIGKILL", all: true },
} as const;
type Death = (typeof deaths)[keyof typeof deaths];

describe.each(["kit", "cli"] as const)("with the driver %s", (driver) => {
  const runs = driver === "cli" && !cli ? test.skip : test;
  // With marks, in every other case, the next `up` finds what was left behind.
  const cases = Object.entries(deaths).flatMap(([name, death], first) =>
    Array.from({ length: repeats }, (_, nth) => ({ name, death, marks: (first + nth) % 2 === 0, nth })),
  );

  runs.each(cases)(
    "after $name, a recovery leaves each endpoint once, and in the state (marks: $marks, $nth)",
    async ({ name, death, marks }) => {
      const emulator = await Emulator.start();
      onTestFinished(() => emulator.close());
      // The latency of a real service.
      emulator.intercept(({ method }) => method === "POST", { afterCommit: true, delayMs: 25 }, count);
      const folder = newProject("kills");
      writeProgram(folder, urlsOf(count), {});
      const env: NodeJS.ProcessEnv = marks ? { ENDPOINTS_MARK: "team/kills" } : {};
      const { stack, start } = await runner(driver, folder, emulator, { env });

      // Early enough that some creates remain.
      const killAt = 1 + Math.floor(Math.random() * (count - 10));
      const run = start();
      await until(() => posts(emulator) >= killAt);
      await kill(await run.pid(), death);
      await run.ended;
      await quiet(emulator);
      expect(emulator.endpoints.length).toBeLessThan(count);

      await stack.cancel();
      await stack.refresh({ clearPendingCreates: true });
      const known = await idsOf(stack);
      const leftOver = emulator.endpoints.map(({ id }) => id).filter((id) => !known.includes(id));

      const named: string[] = [];
      for (let tries = 0; tries < 10; tries++) {
        const failed = await failureOf(stack.up({ skipPreview: true }));
        if (!failed) break;
        // Each message names a leftover with the advice to adopt it, which the test follows.
        const adopted = failed.map((message) => /is served by (ep_\w+),.*set adopt: "\1"/.exec(message)?.[1]);
        named.push(...adopted.map((id) => id ?? `no id in: ${failed.join("; ")}`));
        writeProgram(
          folder,
          urlsOf(count),
          Object.fromEntries(
            emulator.endpoints.flatMap(({ id, url }) => (named.includes(id) ? [[url, id]] : [])),
          ),
        );
      }
      expect(named.sort()).toEqual(marks ? [] : leftOver.sort());
      expect(emulator.endpoints.map(({ url }) => url).sort()).toEqual(urlsOf(count).sort());
      expect((await idsOf(stack)).sort()).toEqual(emulator.endpoints.map(({ id }) => id).sort());
      tally.push({ driver, death: name, marks, leftOver: leftOver.length });
    },
  );

  runs.each(["dynamic", "plugin"])(
    "none of 64 parallel creates is sent after SIGKILL to the engine (%s provider)",
    async (provider) => {
      const emulator = await Emulator.start();
      onTestFinished(() => emulator.close());
      const { baseUrl, release } = await gate(emulator);
      const folder = newProject("kills");
      writeProgram(folder, urlsOf(64), {});
      appendFileSync(join(folder, "Pulumi.yaml"), PLUGIN);
      const env = { ENDPOINTS_PROVIDER: provider, PULUMI_PARALLEL: "64" };
      const { start } = await runner(driver, folder, emulator, { baseUrl, env });

      const run = start();
      const pid = await run.pid();
      await until(() => posts(emulator) === CONNECTIONS.provider);
      // The other creates reach the provider, and wait there.
      await pause(2_000);
      await kill(pid, deaths["SIGKILL to the engine"]);
      await until(() => !isAlive(pid));
      release();
      await run.ended;
      await quiet(emulator);
      expect(posts(emulator)).toBe(CONNECTIONS.provider);
    },
  );
});

afterAll(() => {
  const rows = tally.map(
    ({ driver, death, marks, leftOver }) =>
      `${driver}, ${death}, marks ${marks}: ${leftOver} left over, 0 lost`,
  );
  if (rows.length > 0) console.log(rows.join("\n"));
});

const tally: { driver: string; death: string; marks: boolean; leftOver: number }[] = [];
const urlsOf = (length: number) => Array.from({ length }, (_, index) => `https://e${index}.example.com`);
const PLUGIN = "plugins:\n  providers:\n    - name: endpoints\n      path: ../../../provider/plugin\n";

/** @param adopt The ids to adopt, by URL. */
function writeProgram(folder: string, urls: string[], adopt: Record<string, string>): void {
  writeFileSync(
    join(folder, "index.js"),
    `const { CloudEndpoint } = require("pulumi-endpoints");
const adopt = ${JSON.stringify(adopt)};
for (const url of ${JSON.stringify(urls)}) new CloudEndpoint(url, { url, description: "made by the program", adopt: adopt[url] });
`,
  );
}

/** Starts a proxy to the service that holds the replies until they are released. */
async function gate(emulator: Emulator): Promise<{ baseUrl: string; release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const service = connect(Number(new URL(emulator.baseUrl).port), "127.0.0.1");
    for (const socket of [client, service]) sockets.push(socket.on("error", () => {}));
    client.pipe(service);
    void released.then(() => service.pipe(client));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, release };
}

/** Creates a stack, and a function that starts an `up` in a process that can be killed. */
async function runner(
  driver: Stack["driver"],
  folder: string,
  emulator: Emulator,
  { baseUrl = emulator.baseUrl, env = {} }: { baseUrl?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ stack: Stack; start: () => Run }> {
  const stateFile = join(folder, "state.json");
  const stackName = `kill-${process.pid}-${Date.now()}`;
  const stack = await TestStack.create({
    program: folder,
    driver,
    emulator,
    config: { "endpoints:baseUrl": baseUrl },
    env,
    stackName: driver === "cli" ? stackName : "test",
    ...(driver === "kit" && { stateFile }),
  });
  onTestFinished(() => stack.close());
  const start = () =>
    driver === "kit"
      ? startKit(folder, stateFile, { ...emulator, baseUrl }, env)
      : startCli(stack, stackName);
  return { stack, start };
}

interface Run {
  pid: () => Promise<number>;
  /** Resolves when the killed process has ended. */
  ended: Promise<unknown>;
}

function startKit(
  folder: string,
  stateFile: string,
  { baseUrl, apiKey }: Pick<Emulator, "baseUrl" | "apiKey">,
  env: NodeJS.ProcessEnv,
): Run {
  const script = join(import.meta.dirname, "kitUp.mjs");
  const child = spawn(process.execPath, [script, folder, stateFile, baseUrl, apiKey], {
    stdio: "ignore",
    env: { ...process.env, ...env },
  });
  return { pid: async () => child.pid ?? 0, ended: new Promise((resolve) => child.once("exit", resolve)) };
}

function startCli(stack: Stack, stackName: string): Run {
  const ended = stack.up({ skipPreview: true }).catch(() => {});
  const find = () => output("pgrep", ["-f", `^pulumi up .*--stack ${stackName}`]).trim();
  return { pid: async () => Number((await until(find)).split("\n")[0]), ended };
}

async function kill(pid: number, { signal, all }: Death): Promise<void> {
  const victims = all ? [...descendants(pid), pid] : [pid];
  for (const victim of victims) {
    try {
      process.kill(victim, signal);
    } catch {
      // The process has already ended.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function descendants(pid: number): number[] {
  const children = output("pgrep", ["-P", `${pid}`])
    .split("\n")
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [...descendants(child), child]);
}

function output(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: "utf8" });
  } catch {
    return "";
  }
}

async function until<T>(found: () => T): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(5)) {
    const value = found();
    if (value) return value;
  }
  throw new Error("the condition was not met within a minute");
}

/** Waits until no more requests come. A provider ends within seconds after its engine. */
async function quiet(emulator: Emulator): Promise<void> {
  for (let seen = -1; seen !== emulator.requests.length; await pause(3_000)) seen = emulator.requests.length;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const posts = ({ requests }: Emulator) => requests.filter(({ method }) => method === "POST").length;

async function idsOf(stack: Stack): Promise<string[]> {
  const { resources = [] } = (await stack.exportState()).deployment;
  return resources.flatMap(({ type, id }) => (type.endsWith(":CloudEndpoint") && id ? [id] : []));
}

/** The engine's message for each failed resource; undefined if the run succeeded. */
async function failureOf(run: Promise<unknown>): Promise<string[] | undefined> {
  try {
    await run;
    return undefined;
  } catch (error) {
    if (!(error instanceof RunFailed)) throw error;
    const { diagnostics } = error.result;
    return diagnostics.flatMap(({ severity, message }) =>
      severity === "error" && /cannot create/.test(message) ? [message] : [],
    );
  }
}
