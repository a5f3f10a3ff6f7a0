import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { newProject, temporaryFolder } from "../folders";
import { blocksOf } from "./pages";

/* Runbook tests: the recovery commands of docs/reliability.md on the real CLI, with the state in files. */
const page = readFileSync(join(import.meta.dirname, "../../docs/reliability.md"), "utf8");

/** The first shell block under a heading. */
function commandsUnder(heading: string): string {
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  const block = blocksOf("docs/reliability.md", section).find(({ language }) => language === "sh");
  if (!block) throw new Error(`no commands under "${heading}"`);
  return block.code;
}

const TRUNCATED_FILE = commandsUnder('"failed to load checkpoint: EOF"');
const TRUNCATED_STATE = commandsUnder('"failed to load checkpoint: unexpected end of JSON input"');
// If there is no lock, there is nothing to cancel, as the page says.
const AFTER_A_KILL = commandsUnder("When a run is ended").replace(/^pulumi cancel.*/, "$& || true");

test.skipIf(!(await findPulumiCli()))(
  "with the Pulumi CLI, truncated files of the backend are repaired or restored, what a restored state lacks is adopted, and another account is refused until it is accepted",
  async () => {
    const emulator = await Emulator.start();
    const backend = temporaryFolder();
    onTestFinished(() => emulator.close());
    const folder = newProject("shop");
    const env = {
      ...process.env,
      PULUMI_BACKEND_URL: `file://${backend}`,
      PULUMI_HOME: join(backend, "home"),
      PULUMI_CONFIG_PASSPHRASE: "runbook",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ENDPOINTS_BASE_URL: emulator.baseUrl,
      ENDPOINTS_API_KEY: emulator.apiKey,
    };
    const sh = async (commands: string, cwd = folder): Promise<string> => {
      try {
        return (await promisify(execFile)("bash", ["-ec", `exec 2>&1\n${commands}`], { cwd, env })).stdout;
      } catch (error) {
        // The output contains the reason.
        throw new Error(`${commands}: ${(error as { stdout?: string }).stdout}`, { cause: error });
      }
    };
    const idsInState = async (): Promise<string[]> => {
      const { deployment } = JSON.parse(await sh("pulumi stack export"));
      return deployment.resources
        .flatMap(({ type, id }: { type: string; id: string }) => (type.endsWith("CloudEndpoint") ? [id] : []))
        .sort();
    };
    const idsOnService = () => emulator.endpoints.map(({ id }) => id).sort();
    await sh("pulumi stack init dev");
    for (const count of [1, 3]) {
      const program = `for (let i = 0; i < ${count}; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com" });`;
      const head = 'const { CloudEndpoint } = require("pulumi-endpoints");\n';
      writeFileSync(join(folder, "index.js"), head + program);
      await sh("pulumi up --yes --skip-preview");
    }
    const state = join(backend, ".pulumi/stacks/shop/dev.json");
    const attributes = readdirSync(backend, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".attrs"))
      .map((file) => join(backend, file));
    expect(attributes).not.toEqual([]);
    const repair = async (files: string[], length: number, message: RegExp, commands: string) => {
      for (const file of files) truncateSync(file, length);
      await expect(sh("pulumi stack export")).rejects.toThrow(message);
      await sh(commands, backend);
    };
    await repair(attributes, 0, /EOF/, TRUNCATED_FILE);
    expect(await idsInState()).toHaveLength(3);
    await repair([state], 1000, /unexpected end of JSON input/, TRUNCATED_STATE);
    // On a full disk, the last command stores no backup.
    const backups = join(backend, ".pulumi/backups/shop/dev");
    const stored = readdirSync(backups).filter((file) => file.endsWith(".json"));
    rmSync(join(backups, stored.sort().at(-1) ?? ""));
    await repair([state, `${state}.bak`], 1000, /unexpected end of JSON input/, TRUNCATED_STATE);
    expect(await idsInState()).toHaveLength(1);
    // `up` fails on the URLs of the two that the state lacks, and prints the line that takes them over.
    for (let line = ""; ; ) {
      const { message } = await sh(line || AFTER_A_KILL).then(
        () => new Error(""),
        (error: Error) => error,
      );
      if (message === "") break;
      const lines = [...message.matchAll(/`(ENDPOINTS_ADOPT=[\w/:,-]+ pulumi up --refresh)`/g)].map(
        ([, found]) => found ?? "",
      );
      line = `${lines.reduce((one, other) => (other.length > one.length ? other : one))} --yes`;
    }
    expect(idsOnService()).toHaveLength(3);
    expect(await idsInState()).toEqual(idsOnService());

    const otherKey = `export ENDPOINTS_API_KEY=${emulator.addKey({ account: "other" })}`;
    const REFUSED =
      /may not be this stack's.* If the endpoint is really gone, run `pulumi state delete --force`/;
    for (const command of ["refresh", "destroy"])
      await expect(sh(`${otherKey}\npulumi ${command} --yes`)).rejects.toThrow(REFUSED);
    expect(await idsInState()).toHaveLength(3);
    expect(idsOnService()).toHaveLength(3);
  },
);
