import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { newProject } from "../folders";

/* Runs the recovery commands of docs/reliability.md on the real CLI, with the state in files. */
const page = readFileSync(join(import.meta.dirname, "../../docs/reliability.md"), "utf8");
const cli = await findPulumiCli();

/** The commands of the first shell block under a heading. */
function commandsUnder(heading: string): string[] {
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [, block] = /```sh\n(.*?)```/s.exec(section) ?? [];
  if (block === undefined) throw new Error(`no commands under "${heading}"`);
  const commands = block.split("\n").map((line) => line.replace(/\s+#.*$/, ""));
  expect(commands.join("")).not.toBe("");
  return commands.filter((line) => line !== "");
}

/** A project with `count` endpoints on the real CLI, with a folder as its backend. */
async function project(count: number) {
  const emulator = await Emulator.start();
  const backend = mkdtempSync(join(tmpdir(), "drill-"));
  onTestFinished(async () => {
    await emulator.close();
    rmSync(backend, { recursive: true, force: true });
  });
  const folder = newProject("drill");
  writeFileSync(
    join(folder, "index.js"),
    `const { CloudEndpoint } = require("pulumi-endpoints");
for (let i = 0; i < ${count}; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com" });
`,
  );
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_HOME: join(backend, "home"),
    PULUMI_CONFIG_PASSPHRASE: "drill",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  const sh = async (command: string, cwd = folder): Promise<string> => {
    try {
      return (await promisify(execFile)("bash", ["-c", `${command} 2>&1`], { cwd, env })).stdout;
    } catch (error) {
      // The output contains the reason.
      throw new Error(`${command}: ${(error as { stdout?: string }).stdout}`, { cause: error });
    }
  };
  await sh("pulumi stack init dev");
  const idsInState = async (): Promise<string[]> => {
    const { deployment } = JSON.parse(await sh("pulumi stack export"));
    return deployment.resources.flatMap(({ type, id }: { type: string; id: string }) =>
      type.endsWith("CloudEndpoint") ? [id] : [],
    );
  };
  /** Kills `pulumi up` and all its processes with SIGKILL in the middle of its creates. */
  const killUp = async () => {
    emulator.intercept("create", { afterCommit: true, delayMs: 300 }, count);
    const up = spawn("pulumi", ["up", "--yes", "--skip-preview"], { cwd: folder, env, detached: true });
    const ended = once(up, "exit");
    await vi.waitUntil(() => emulator.endpoints.length >= count / 3, { timeout: 120_000 });
    process.kill(-(up.pid ?? 0), "SIGKILL");
    await ended;
  };
  return { emulator, backend, folder, sh, idsInState, killUp };
}

describe.skipIf(!cli)("with the Pulumi CLI on the PATH", () => {
  test("the run after a killed one adopts all endpoints that the killed run created, with marked creates", async () => {
    const { emulator, backend, sh, idsInState, killUp } = await project(12);
    for (const command of commandsUnder("Marked creates")) await sh(command);
    await killUp();
    // A kill of all processes can truncate a file of the backend.
    for (const command of commandsUnder('"failed to load checkpoint: EOF"')) await sh(command, backend);
    for (const command of commandsUnder("When a run is ended")) {
      // If there is no lock, there is nothing to cancel, as the page says.
      await sh(command.startsWith("pulumi cancel") ? `${command} || true` : command);
    }
    expect(emulator.endpoints).toHaveLength(12);
    expect((await idsInState()).sort()).toEqual(emulator.endpoints.map(({ id }) => id).sort());
  });

  test("a state with a truncated file of attributes can be loaded after the repair", async () => {
    const { backend, sh, idsInState } = await project(1);
    await sh("pulumi up --yes --skip-preview");
    const attributes = readdirSync(backend, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".attrs"),
    );
    expect(attributes.length).toBeGreaterThan(0);
    for (const file of attributes) truncateSync(join(backend, file), 0);
    await expect(sh("pulumi stack export")).rejects.toThrow(/EOF/);
    for (const command of commandsUnder('"failed to load checkpoint: EOF"')) await sh(command, backend);
    expect(await idsInState()).toHaveLength(1);
  });

  test("a truncated state is restored from its copy, or else from a backup, and a run after that adopts what it lacks", async () => {
    const { emulator, backend, folder, sh, idsInState } = await project(1);
    for (const command of commandsUnder("Marked creates")) await sh(command);
    await sh("pulumi up --yes --skip-preview");
    const program = join(folder, "index.js");
    writeFileSync(program, readFileSync(program, "utf8").replace("i < 1", "i < 3"));
    await sh("pulumi up --yes --skip-preview");
    const state = join(backend, ".pulumi/stacks/drill/dev.json");
    const restore = async (...files: string[]) => {
      for (const file of files) truncateSync(file, 1000);
      await expect(sh("pulumi stack export")).rejects.toThrow(/unexpected end of JSON input/);
      const commands = commandsUnder('"failed to load checkpoint: unexpected end of JSON input"').join("\n");
      await sh(commands.replaceAll("shop", "drill"), backend);
    };
    await restore(state);
    // On a full disk, the last command stores no backup.
    const backups = join(backend, ".pulumi/backups/drill/dev");
    const stored = readdirSync(backups).filter((file) => file.endsWith(".json"));
    rmSync(join(backups, stored.sort().at(-1) ?? ""));
    await restore(state, `${state}.bak`);
    expect(await idsInState()).toHaveLength(1);
    for (const command of commandsUnder("When a run is ended"))
      await sh(command.startsWith("pulumi cancel") ? `${command} || true` : command);
    expect(emulator.endpoints).toHaveLength(3);
    expect((await idsInState()).sort()).toEqual(emulator.endpoints.map(({ id }) => id).sort());
  });

  test("another account is refused, and accepted for a run with ENDPOINTS_ACCEPT_ACCOUNT", async () => {
    const { emulator, sh, idsInState } = await project(1);
    await sh("pulumi up --yes --skip-preview");
    const other = emulator.addKey({ account: "other" });
    const withOther = `export ENDPOINTS_API_KEY=${other}; `;
    for (const command of ["pulumi refresh --yes", "pulumi destroy --yes"]) {
      await expect(sh(`${withOther} ${command}`)).rejects.toThrow(/ENDPOINTS_ACCEPT_ACCOUNT=1/);
    }
    expect(await idsInState()).toHaveLength(1);
    for (const command of commandsUnder("When an endpoint counts as gone"))
      await sh(`${withOther} ${command} --yes`);
    expect(await idsInState()).toEqual([]);
    expect(emulator.endpoints).toHaveLength(1);
  });
});
