import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { localBackend, newProject, temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { blocksOf } from "./pages";

/* Runbook tests: the commands of the pages for operators on the real CLI, with the state in files. */

/** The shell blocks under a heading. */
function commandsUnder(heading: string, file = "reliability"): string[] {
  const page = readFileSync(join(root, `docs/${file}.md`), "utf8");
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [own = ""] = section.split(/^## /m);
  const blocks = blocksOf(`docs/${file}.md`, own).filter(({ language }) => language === "sh");
  if (blocks.length === 0) throw new Error(`no commands under "${heading}"`);
  return blocks.map(({ code }) => code);
}

const [TRUNCATED_FILE = ""] = commandsUnder('"failed to load checkpoint: EOF"');
const [TRUNCATED_STATE = ""] = commandsUnder('"failed to load checkpoint: unexpected end of JSON input"');
// If there is no lock, there is nothing to cancel, as the page says.
const AFTER_A_KILL = commandsUnder("A run was killed")[1]?.replace(/^pulumi cancel.*/, "$& || true") ?? "";

const isInstalled = await findPulumiCli();
const PACKAGE = 'const { CloudEndpoint } = require("pulumi-endpoints");\n';

/** A project on an emulator, with its stack. */
async function start(stack: string) {
  const emulator = await Emulator.start();
  const backend = temporaryFolder();
  onTestFinished(() => emulator.close());
  const folder = newProject("shop");
  const env = {
    ...process.env,
    ...localBackend(backend),
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  /** Runs commands as a page has them. `up` and `state delete` do not ask here. */
  const sh = async (commands: string, cwd = folder): Promise<string> => {
    const shell = `exec 2>&1\nnpx() { shift; node ${join(root, "dist/sdk/commands/main.js")} "$@"; }`;
    const unasked = commands.replace(/\bpulumi (up|state delete)\b(?! --yes)/g, "pulumi $1 --yes");
    try {
      return (await promisify(execFile)("bash", ["-ec", `${shell}\n${unasked}`], { cwd, env })).stdout;
    } catch (error) {
      // The output contains the reason.
      throw new Error(`${unasked}: ${(error as { stdout?: string }).stdout}`, { cause: error });
    }
  };
  /** What commands print that are expected to fail. */
  const failing = (commands: string): Promise<string> =>
    sh(commands).then(
      (output) => Promise.reject(new Error(`${commands} did not fail: ${output}`)),
      (error: Error) => error.message,
    );
  const resources = async (): Promise<{ id: string; urn: string }[]> => {
    const { deployment } = JSON.parse(await sh("pulumi stack export"));
    return deployment.resources.filter(({ type }: { type: string }) => type.endsWith("CloudEndpoint"));
  };
  const idsInState = async () => (await resources()).map(({ id }) => id).sort();
  const idsOnService = () => emulator.endpoints.map(({ id }) => id).sort();
  const program = (text: string) => writeFileSync(join(folder, "index.js"), PACKAGE + text);
  await sh(`pulumi stack init ${stack}`);
  return { emulator, backend, folder, env, sh, failing, resources, idsInState, idsOnService, program };
}

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, truncated files of the backend are repaired or restored, what a restored state lacks is adopted, and another account is refused until it is accepted",
  async () => {
    const { emulator, backend, sh, idsInState, idsOnService, program } = await start("dev");
    for (const count of [1, 3]) {
      program(
        `for (let i = 0; i < ${count}; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com" });`,
      );
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

const SHOP = "https://shop.example.com";
const API = "https://api.example.com";
const [DRIFT = ""] = commandsUnder("Find what changed by hand", "drift");
const NO_DRIFT = "None of 2 cloud endpoints drifted.";

/** The program with a resource of each URL. */
const bothNamed = (name: string, options = "{}") =>
  `new CloudEndpoint("${name}", { url: "${SHOP}", description: "front door" }, ${options});
new CloudEndpoint("api", { url: "${API}" });`;

/** A stack with two endpoints. */
async function deployed() {
  const fixture = await start("prod");
  const { emulator, sh, resources, program } = fixture;
  program(bothNamed("shop"));
  await sh("pulumi up --yes --skip-preview");
  const idOf = (url: string) => emulator.endpoints.find((one) => one.url === url)?.id ?? "";
  const urnOf = async (url: string) => (await resources()).find(({ id }) => id === idOf(url))?.urn ?? "";
  return { ...fixture, idOf, urnOf };
}

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, an operator finds what changed by hand, and puts it back",
  async () => {
    const { emulator, sh, failing, idsInState, idsOnService, idOf } = await deployed();
    const ids = idsOnService();
    const putsBack = commandsUnder("Put back what changed by hand", "drift").join("");
    emulator.edit(idOf(SHOP), { description: "edited by hand" });
    const report = await failing(DRIFT);
    expect(report).toContain('description should be "front door", is "edited by hand"');
    expect(report).toContain(putsBack);
    await sh(putsBack);
    expect(await sh(DRIFT)).toContain(NO_DRIFT);
    expect(await idsInState()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, a renamed resource keeps its endpoint with the alias that the page shows",
  async () => {
    const { sh, failing, idsInState, idsOnService, program } = await deployed();
    const ids = idsOnService();
    program(bothNamed("front"));
    expect(await failing("pulumi up --yes --skip-preview")).toContain("is served by");
    expect(await idsInState()).toEqual(ids);
    program(bothNamed("front", '{ aliases: [{ name: "shop" }] }'));
    await sh("pulumi preview --expect-no-changes");
    await sh("pulumi up --yes --skip-preview");
    expect(await idsInState()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, a rotated key proves that all endpoints are gone, and the stack moves to another backend",
  async () => {
    const { emulator, env, sh, failing, idsInState, idsOnService } = await deployed();
    env.ENDPOINTS_API_KEY = emulator.addKey();
    for (const commands of commandsUnder("A key was rotated")) await sh(commands);
    for (const id of idsOnService()) emulator.remove(id);
    expect(await failing(DRIFT)).toContain("2 deleted");
    await sh("pulumi up --refresh");
    expect(await idsInState()).toEqual(idsOnService());

    const [OLD, NEW] = [env.PULUMI_BACKEND_URL, `file://${temporaryFolder()}`];
    for (const commands of commandsUnder("The stack moved to another backend"))
      await sh(`OLD=${OLD}\nNEW=${NEW}\n${commands}`);
    expect(await failing("pulumi stack export --stack prod")).toContain("no stack named 'prod'");
    env.PULUMI_BACKEND_URL = NEW;
    expect(await sh(DRIFT)).toContain(NO_DRIFT);
    expect(idsOnService()).toHaveLength(2);
  },
);

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, a lost state is found again, and an endpoint is given back and adopted",
  async () => {
    const { sh, idsInState, idsOnService, program, idOf, urnOf } = await deployed();
    const ids = idsOnService();
    await sh("pulumi stack rm prod --force --preserve-config --yes\npulumi stack init prod");
    const report = await sh(DRIFT);
    for (const id of ids) expect(report).toContain(id);
    const [line = ""] = commandsUnder("The state is lost");
    expect(line).toContain("shop/prod:ep_1,ep_2,ep_3 ");
    expect(await sh(line.replace("ep_1,ep_2,ep_3", ids.join(",")))).toContain("as it is");
    expect(await idsInState()).toEqual(ids);

    const [giveBack = ""] = commandsUnder("Give an endpoint back", "adoption");
    await sh(giveBack.replace(/'urn:[^']*'/, `'${await urnOf(API)}'`));
    program(bothNamed("shop").split("\n")[0] ?? "");
    await sh("pulumi up --yes --skip-preview");
    expect(await idsInState()).toHaveLength(1);
    expect(idsOnService()).toEqual(ids);

    program(bothNamed("shop").replace(`"${API}"`, `$&, adopt: "${idOf(API)}"`));
    expect(await sh("pulumi preview")).toMatch(/adopts ep_\w+ as it is/);
    await sh("pulumi up --yes --skip-preview");
    expect(await idsInState()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, an endpoint that has retainOnDelete is replaced in two runs, and kept by the line of the message in one",
  async () => {
    const { sh, failing, idsInState, idsOnService, program, idOf, urnOf } = await deployed();
    const [before, retains] = [idOf(SHOP), "{ retainOnDelete: true }"];
    program(bothNamed("shop", retains));
    await sh("pulumi up --yes --skip-preview");
    const urn = await urnOf(SHOP);
    program(bothNamed("shop"));
    const [twoRuns = ""] = commandsUnder("Replace an endpoint that has retainOnDelete");
    await sh(twoRuns.replace("URN", `'${urn}'`));
    expect(idsOnService()).toHaveLength(2);
    expect(idsOnService()).not.toContain(before);
    expect(await idsInState()).toEqual(idsOnService());

    program(bothNamed("shop", retains));
    await sh("pulumi up --yes --skip-preview");
    const ids = idsOnService();
    const message = await failing(`pulumi up --yes --skip-preview --replace '${urn}'`);
    const [, line = ""] = /`(ENDPOINTS_ADOPT=\S+ pulumi up --refresh)`/.exec(message) ?? [];
    await sh(line);
    expect(idsOnService()).toEqual(ids);
    expect(await idsInState()).toEqual(ids);
  },
);

test.skipIf(!isInstalled)(
  "with the Pulumi CLI, one of two stacks gives up an endpoint that both have, and the endpoint stays",
  async () => {
    const { sh, failing, idsOnService, program, idOf } = await deployed();
    const ids = idsOnService();
    await sh("pulumi stack init other");
    program(`new CloudEndpoint("api", { url: "${API}", adopt: "${idOf(API)}" });`);
    await sh("pulumi up --yes --skip-preview");
    const both = "npx pulumi-endpoints drift --stack prod --stack other";
    const commands =
      (await failing(both)).match(/(?<=`)pulumi state delete --force [^`]* --stack other(?=`)/) ?? [];
    await sh(commands[0] ?? "");
    expect(await sh(both)).toContain(NO_DRIFT);
    expect(idsOnService()).toEqual(ids);
  },
);
