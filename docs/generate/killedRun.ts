import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Emulator } from "../../sdk/testing";
import { root } from "./docs";
import { terminal } from "./terminal";

/* The picture of a killed run and its recovery: real commands of the Pulumi CLI on the PATH, with an emulator. */

const ENDPOINTS = 46;
/** How many creates take effect, but have no answer when the run is killed. */
const LOST = 2;
/** The width of the terminal. */
const COLUMNS = 112;

export async function killedRunPicture(): Promise<string> {
  const emulator = await Emulator.start();
  const programs = join(root, ".programs");
  mkdirSync(programs, { recursive: true });
  const folder = mkdtempSync(join(programs, "killed-"));
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "only for this picture",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  const main = join(root, "dist", "sdk", "commands", "main.js");
  /** The output of commands, also of failed ones: `drift` exits with 8. */
  const run = async (command: string): Promise<string> => {
    const shell = `npx() { shift; node ${main} "$@"; }\nexec 2>&1\n${command.replaceAll("pulumi up", "pulumi up --yes --skip-preview")}`;
    const options = { cwd: folder, env };
    return promisify(execFile)("bash", ["-c", shell], options).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  };
  try {
    writeFileSync(
      join(folder, "Pulumi.yaml"),
      "name: shop\nruntime: { name: nodejs, options: { typescript: false } }\n",
    );
    writeFileSync(join(folder, "package.json"), '{ "name": "shop", "main": "index.js" }\n');
    const each = `new CloudEndpoint("shop-" + i, { url: \`https://shop-\${i}.example.com\` });`;
    const program = `const { CloudEndpoint } = require("pulumi-endpoints");\nfor (let i = 1; i <= ${ENDPOINTS}; i++) ${each}\n`;
    writeFileSync(join(folder, "index.js"), program);
    await run("pulumi stack init prod");
    await killAtLostCreates(emulator, folder, env);

    const drift = await run("npx pulumi-endpoints drift");
    const [line] = /^ {4}(pulumi (?:refresh|up).*)$/m.exec(drift)?.slice(1) ?? [];
    if (line === undefined) throw new Error(`drift printed no line: ${drift}`);
    const cancel = "pulumi cancel --yes";
    const up = await run(`${cancel}\n${line}`);
    const shown = [
      "Killed",
      "",
      "$ npx pulumi-endpoints drift",
      ...linesWith(drift, /^None of .* drifted|^ {2}pending /),
      "…",
      ...wrapped(`    ${line}`),
      "",
      `$ ${cancel}`,
      ...wrapped(`$ ${line}`),
      ...adoptions(up),
      ...linesWith(up, /^ {4}\+ \d+ created/),
      "",
      "$ npx pulumi-endpoints drift",
      ...linesWith(await run("npx pulumi-endpoints drift"), /^None of .* drifted/),
    ];
    return terminal("pulumi up", shown.join("\n"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await emulator.close();
  }
}

/** Starts `pulumi up`, and kills its processes when the last creates have taken effect without an answer. */
async function killAtLostCreates(emulator: Emulator, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const made = () => emulator.endpoints.length;
  const isLost = ({ method }: { method: string }) => method === "POST" && made() >= ENDPOINTS - LOST;
  emulator.intercept(isLost, { afterCommit: true, hang: true }, LOST);
  const up = spawn("pulumi", ["up", "--yes", "--skip-preview"], {
    cwd,
    env,
    detached: true,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => up.once("exit", resolve));
  while (made() < ENDPOINTS) await new Promise((resolve) => setTimeout(resolve, 20));
  // The state has the other creates by then.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  process.kill(-(up.pid ?? 0), "SIGKILL");
  await ended;
}

const linesWith = (text: string, pattern: RegExp) => text.split("\n").filter((line) => pattern.test(line));

/** What the preview of `up` says of each adoption, without its advice. */
const adoptions = (text: string) =>
  [...new Set(text.match(/https:\S+: adopts \w+ as it is/g))].map((line) => `    ${line}`);

/** A line in as many lines as a terminal of this width has. */
const wrapped = (line: string): string[] => line.match(new RegExp(`.{1,${COLUMNS}}`, "g")) ?? [];
