import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Emulator, RunFailed, type TestStack } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { temporaryFolder } from "../folders";
import { cli, newTestStack } from "../projects";
import { until } from "../until";

/*
 * Kills real processes during many creates, and then follows the documented recovery: `pulumi cancel`,
 * `pulumi refresh --clear-pending-creates`, `pulumi up`, and the ids that its messages name. A longer run: npm run test:faults -- --kills 20
 */
const kills = process.env["KILLS"];
const count = kills === undefined ? 60 : 100;

/** The signal to the engine that ends a run. */
const deaths = [
  { signal: "SIGINT", provider: "dynamic" },
  { signal: "SIGKILL", provider: "dynamic" },
  { signal: "SIGKILL", provider: "plugin" },
] as const;
type Death = (typeof deaths)[number];

/** Tests the kills of a driver's runs. */
export function testKills(driver: TestStack["driver"]): void {
  const runs = driver === "cli" && !cli ? test.skip : test;
  runs.each(Array.from({ length: Number(kills ?? 1) }, (_, nth) => nth))(
    `with the driver ${driver}, after each kind of kill, no more creates are sent, and a recovery leaves each endpoint once, and in the state (%i)`,
    async () => {
      const killed = await Promise.all(deaths.map((death) => kill(driver, death)));
      await Promise.all(killed.map((recover) => recover()));
    },
  );
}

/** Kills a run during its creates. Returns the recovery, with checks of the account and the state. */
async function kill(driver: TestStack["driver"], death: Death): Promise<() => Promise<void>> {
  const name = `${death.signal}, ${death.provider}`;
  const env = {
    ENDPOINTS_PROVIDER: death.provider,
    PULUMI_PARALLEL: "64",
    // The rate limit is no part of this test.
    ENDPOINTS_REQUESTS_PER_WINDOW: "100000",
  };
  const { emulator, stackName, stack, start } = await newStack(driver, env);
  // The latency of a real service.
  emulator.intercept("create", { afterCommit: true, delayMs: 25 }, count);

  // Early enough that many creates wait in the provider.
  const killAt = 1 + Math.floor((Math.random() * count) / 2);
  const run = start();
  const pid = await run.pid();
  await until(() => posts(emulator) >= killAt);
  process.kill(pid, death.signal);
  await run.ended;
  await quiet(emulator);
  // The signal came after the last create, because the machine is busy: once more.
  if (emulator.endpoints.length === count) return kill(driver, death);

  return async () => {
    if (driver === "cli") deleteEmptyFiles(stackName);
    await stack.cancel();
    await stack.refresh({ clearPendingCreates: true });
    const known = await idsOf(stack);
    const live = () => emulator.endpoints.map(({ id }) => id);
    const leftOver = live().filter((id) => !known.includes(id));
    // The recovery fails half-way, and is run again.
    if (leftOver.length > 2)
      emulator.intercept(({ method, path }) => isOf(leftOver[1], method, path), refused);
    const ids = new Set<string>();
    let failed = await failureOf(stack.up({ skipPreview: true }));
    for (let tries = 0; failed && tries < 2 * leftOver.length; tries++) {
      // The user gives all ids that the messages have named so far.
      for (const message of failed) for (const [, id = ""] of message.matchAll(LEFT)) ids.add(id);
      expect(ids.size, failed.join("; ")).toBeGreaterThan(0);
      await stack.setConfig("endpoints:adopt", [...ids].join(","));
      failed = await failureOf(stack.up({ skipPreview: true }));
    }
    expect(failed).toBeUndefined();
    const check = async () => {
      expect([...ids].sort(), name).toEqual(leftOver.sort());
      expect(emulator.endpoints.map(({ url }) => url).sort(), name).toEqual(urls.sort());
      expect((await idsOf(stack)).sort(), name).toEqual(live().sort());
    };
    await check();
    const sent = emulator.requests.length;
    await stack.up({ skipPreview: true });
    expect(emulator.requests.slice(sent).filter(({ method }) => method !== "GET")).toEqual([]);
    await check();
  };
}

/** The id in the message of a taken URL. */
const LEFT = /`npx pulumi-endpoints who-has (ep_\w+)(?: --stack [\w-]+)?`/g;

const refused = { status: 403, body: "" };
const isOf = (id: string | undefined, method: string, path: string) =>
  method === "GET" && path.endsWith(`/${id}`);

const urls = Array.from({ length: count }, (_, index) => `https://e${index}.example.com`);
const program = `
for (const url of ${JSON.stringify(urls)}) new CloudEndpoint(url, { url, description: "made by the program" });`;

interface Run {
  pid: () => Promise<number>;
  /** Resolves when the killed process has ended. */
  ended: Promise<unknown>;
}

/** Creates a stack, and a function that starts an `up` in a process that can be killed. */
async function newStack(driver: TestStack["driver"], env: NodeJS.ProcessEnv) {
  const emulator = await emulatedService();
  const stateFolder = temporaryFolder();
  const stateFile = join(stateFolder, "state.json");
  // By this name, a test finds the process and the files of the CLI.
  const stackName = driver === "cli" ? basename(stateFolder) : "test";
  const own = driver === "cli" ? { stackName } : { stateFile };
  const { folder, stack } = await newTestStack(program, { driver, emulator, env, ...own });
  onTestFinished(() => stack.close());
  const start = (): Run =>
    driver === "kit"
      ? startKit([folder, stateFile, emulator.baseUrl, emulator.apiKey], env)
      : startCli(stack, stackName);
  return { emulator, stackName, stack, start };
}

function startKit(args: string[], env: NodeJS.ProcessEnv): Run {
  const child = spawn(process.execPath, [join(import.meta.dirname, "kitUp.mjs"), ...args], {
    stdio: "ignore",
    env: { ...process.env, ...env },
  });
  return { pid: async () => child.pid ?? 0, ended: once(child, "exit") };
}

function startCli(stack: TestStack, stackName: string): Run {
  const ended = stack.up({ skipPreview: true }).catch(() => {});
  const find = () => output("pgrep", ["-f", `^pulumi up .*--stack ${stackName}`]).trim();
  return { pid: async () => Number((await until(find)).split("\n")[0]), ended };
}

/** Deletes a truncated file of the CLI next to the state, as docs/operations.md says. A kill can truncate it. */
function deleteEmptyFiles(stackName: string): void {
  const places = ["-maxdepth", "6", "-path", "*/pulumi-cli-*/.pulumi/*", "-name", `${stackName}.*attrs`];
  output("find", [tmpdir(), ...places, "-size", "0", "-delete"]);
}

function output(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: "utf8" });
  } catch {
    return "";
  }
}

/** Waits until no more requests arrive. A provider ends within seconds after its engine. */
async function quiet(emulator: Emulator): Promise<void> {
  for (let seen = -1; seen !== emulator.requests.length; await pause(3_000)) seen = emulator.requests.length;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const posts = ({ requests }: Emulator) => requests.filter(({ method }) => method === "POST").length;

async function idsOf(stack: TestStack): Promise<string[]> {
  const { resources = [] } = (await stack.exportState()).deployment;
  return resources.flatMap(({ type, id }) => (type.endsWith(":CloudEndpoint") && id ? [id] : []));
}

/** The engine's message for each failed resource, or undefined if the run succeeded. */
async function failureOf(run: Promise<unknown>): Promise<string[] | undefined> {
  try {
    await run;
    return undefined;
  } catch (error) {
    if (!(error instanceof RunFailed)) throw error;
    const { diagnostics } = error.result;
    return diagnostics.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));
  }
}
