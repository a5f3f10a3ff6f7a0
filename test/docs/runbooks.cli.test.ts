import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportSchema } from "../../sdk/commands/drift/report";
import { emulatedService } from "../emulatedService";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { Backend, cli } from "../projects";
import { until } from "../until";
import { blocksOf } from "./pages";

/* Runbook tests: the commands of the pages for operators on the real CLI, with the state in files. */

function sectionOf(heading: string, file: string): string {
  const page = readFileSync(join(root, `docs/${file}.md`), "utf8");
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  return section.split(/^##+ /m)[0] ?? "";
}

/** The shell blocks under a heading. */
function commandsUnder(heading: string, file = "operations"): string[] {
  const own = sectionOf(heading, file);
  const blocks = blocksOf(`docs/${file}.md`, own).filter(({ language }) => language === "sh");
  if (blocks.length === 0) throw new Error(`no commands under "${heading}"`);
  return blocks.map(({ code }) => code);
}

/** The command in a sentence under a heading. */
function commandIn(heading: string, command: RegExp, file = "operations"): string {
  const found = [...sectionOf(heading, file).matchAll(/`([^`\n]+)`/g)].find(([, code = ""]) =>
    command.test(code),
  );
  if (!found?.[1]) throw new Error(`no command ${command} under "${heading}"`);
  return found[1];
}

const TRUNCATED_FILE = commandIn("A run was killed", /^find /);
const BACKUPS = commandIn("A run was killed", /^backups\//);
// If there is no lock, there is nothing to cancel, as the page says.
const AFTER_A_KILL = commandsUnder("A run was killed")[0]?.replace(/^pulumi cancel.*/, "$& || true") ?? "";

/** The lines of a lost state, with these ids. */
function lineOfLostState(ids: readonly string[]): string {
  const [lines = ""] = commandsUnder("The state is lost");
  expect(lines).toContain("endpoints:adopt=ep_1,ep_2,ep_3\n");
  return lines.replace("ep_1,ep_2,ep_3", ids.join(","));
}

/** A project on an emulator, with its stack. */
async function start(stack: string, program = "") {
  const emulator = await emulatedService();
  const backend = new Backend(emulator);
  const project = await backend.project(program, { stack });
  const idsOnService = () => emulator.endpoints.map(({ id }) => id).sort();
  return { emulator, backend, project, idsOnService };
}

test.skipIf(!cli)(
  "with the Pulumi CLI, truncated files of the backend are repaired or restored, what a restored state lacks is adopted, and another account is refused until it is accepted",
  async () => {
    const { project, emulator, backend, idsOnService } = await start("dev");
    for (const count of [1, 3]) {
      project.edit(
        `for (let i = 0; i < ${count}; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com" });`,
      );
      await project.up();
    }
    const state = join(backend.folder, ".pulumi/stacks/shop/dev.json");
    const attributes = readdirSync(backend.folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".attrs"))
      .map((file) => join(backend.folder, file));
    expect(attributes).not.toEqual([]);
    const repair = async (files: string[], length: number, message: RegExp, commands: string) => {
      for (const file of files) truncateSync(file, length);
      await expect(project.sh("pulumi stack export")).rejects.toThrow(message);
      await project.sh(commands, backend.folder);
    };
    await repair(attributes, 0, /EOF/, TRUNCATED_FILE);
    expect(await project.ids()).toHaveLength(3);
    const CUT = /unexpected end of JSON input/;
    // On a full disk, the last command stores no backup.
    const backups = join(backend.folder, ".pulumi", BACKUPS);
    const stored = readdirSync(backups).filter((file) => file.endsWith(".json"));
    rmSync(join(backups, stored.sort().at(-1) ?? ""));
    await repair([state, `${state}.bak`], 1000, CUT, `cp $(ls -t ${backups}/*.json | head -1) ${state}`);
    const before = await project.ids();
    expect(before).toHaveLength(1);
    // `up` fails on the URLs of the two that the state lacks, and names them.
    const message = await project.failing(AFTER_A_KILL);
    const left = new Set(
      [...message.matchAll(/`npx pulumi-endpoints who-has (ep_\w+)(?: --stack \w+)?`/g)].map(([, id]) => id),
    );
    expect(left.size).toBeGreaterThan(0);
    const unmanaged = idsOnService().filter((id) => !before.includes(id));
    expect([...left].every((id) => unmanaged.includes(id ?? ""))).toBe(true);
    await project.sh(lineOfLostState(unmanaged));
    expect(idsOnService()).toHaveLength(3);
    expect(await project.ids()).toEqual(idsOnService());

    const otherKey = `export ENDPOINTS_API_KEY=${emulator.addKey({ account: "other" })}`;
    const REFUSED = /may not be this stack's.*See "An endpoint is not found"/;
    for (const command of ["refresh", "destroy"])
      await expect(project.sh(`${otherKey}\npulumi ${command} --yes`)).rejects.toThrow(REFUSED);
    expect(await project.ids()).toHaveLength(3);
    expect(idsOnService()).toHaveLength(3);
  },
);

const SHOP = "https://shop.example.com";
const API = "https://api.example.com";
const DOCS = "https://docs.example.com";
const [DRIFT = ""] = commandsUnder("Find what changed by hand", "drift");
const NO_DRIFT = "None of 2 cloud endpoints drifted.";

/** The program with a resource of each URL. */
const bothNamed = (name: string, options = "{}") =>
  `new CloudEndpoint("${name}", { url: "${SHOP}", description: "front door" }, ${options});
new CloudEndpoint("api", { url: "${API}" });`;

/** A stack with two endpoints. */
async function deployed() {
  const fixture = await start("prod", bothNamed("shop"));
  const { emulator, project } = fixture;
  await project.up();
  const idOf = (url: string) => emulator.endpoints.find((one) => one.url === url)?.id ?? "";
  const urnOf = async (url: string) =>
    (await project.endpoints()).find(({ id }) => id === idOf(url))?.urn ?? "";
  return { ...fixture, idOf, urnOf };
}

test.skipIf(!cli)(
  "with the Pulumi CLI, an operator finds what changed by hand, and puts it back",
  async () => {
    const { project, emulator, idsOnService, idOf } = await deployed();
    const ids = idsOnService();
    const putsBack = commandsUnder("Put back what changed by hand", "drift").join("");
    emulator.edit(idOf(SHOP), { description: "edited by hand" });
    const report = await project.failing(DRIFT);
    expect(report).toContain('description should be "front door", is "edited by hand"');
    expect(report).toContain(putsBack);
    await project.sh(putsBack);
    expect(await project.sh(DRIFT)).toContain(NO_DRIFT);
    expect(await project.ids()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, a renamed resource keeps its endpoint with the alias that the page shows",
  async () => {
    const { project, idsOnService } = await deployed();
    const ids = idsOnService();
    project.edit(bothNamed("front"));
    expect(await project.failing("pulumi up")).toContain("is served by");
    expect(await project.ids()).toEqual(ids);
    project.edit(bothNamed("front", '{ aliases: [{ name: "shop" }] }'));
    await project.sh("pulumi preview --expect-no-changes");
    await project.up();
    expect(await project.ids()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, a rotated key proves that all endpoints are gone, and the stack moves to another backend",
  async () => {
    const { project, emulator, idsOnService } = await deployed();
    project.env["ENDPOINTS_API_KEY"] = emulator.addKey();
    await project.sh(commandIn("A key was rotated", /^pulumi refresh/));
    for (const id of idsOnService()) emulator.remove(id);
    expect(await project.failing(DRIFT)).toContain("2 deleted");
    await project.sh("pulumi up --refresh");
    expect(await project.ids()).toEqual(idsOnService());

    const [OLD, NEW] = [project.env["PULUMI_BACKEND_URL"], `file://${temporaryFolder()}`];
    const removal = commandIn("Tasks", /^pulumi stack rm prod --force/);
    await project.sh("pulumi stack export --show-secrets --file prod.json");
    await project.sh(
      `export PULUMI_BACKEND_URL=${NEW}\npulumi stack init prod\npulumi stack import --file prod.json\npulumi preview --expect-no-changes`,
    );
    await project.sh(`PULUMI_BACKEND_URL=${OLD} ${removal} --yes`);
    expect(await project.failing("pulumi stack export --stack prod")).toContain("no stack named 'prod'");
    project.env["PULUMI_BACKEND_URL"] = NEW;
    expect(await project.sh(DRIFT)).toContain(NO_DRIFT);
    expect(idsOnService()).toHaveLength(2);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, a lost state is found again, and an endpoint is given back and adopted",
  async () => {
    const { project, idsOnService, idOf, urnOf } = await deployed();
    const ids = idsOnService();
    await project.sh("pulumi stack rm prod --force --preserve-config --yes\npulumi stack init prod");
    const report = await project.sh(DRIFT);
    for (const id of ids) expect(report).toContain(id);
    expect(await project.sh(lineOfLostState(ids))).toContain("as it is");
    expect(await project.ids()).toEqual(ids);
    expect(await project.sh("pulumi preview --expect-no-changes")).not.toContain("endpoints:adopt");

    const giveBack = commandIn("Give an endpoint back", /^pulumi state delete/, "adoption");
    await project.sh(giveBack.replace("URN", `'${await urnOf(API)}'`));
    project.edit(bothNamed("shop").split("\n")[0] ?? "");
    await project.up();
    expect(await project.ids()).toHaveLength(1);
    expect(idsOnService()).toEqual(ids);

    project.edit(bothNamed("shop").replace(`"${API}"`, `$&, adopt: "${idOf(API)}"`));
    expect(await project.sh("pulumi preview")).toMatch(/adopts ep_\w+ as it is/);
    await project.up();
    expect(await project.ids()).toEqual(ids);
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, an endpoint that has retainOnDelete is replaced in two runs, and kept by the command of the message in one",
  async () => {
    const { project, idsOnService, idOf, urnOf } = await deployed();
    const [before, retains] = [idOf(SHOP), "{ retainOnDelete: true }"];
    project.edit(bothNamed("shop", retains));
    await project.up();
    const urn = await urnOf(SHOP);
    project.edit(bothNamed("shop"));
    await project.sh(`pulumi up\npulumi up --replace '${urn}'`);
    expect(idsOnService()).toHaveLength(2);
    expect(idsOnService()).not.toContain(before);
    expect(await project.ids()).toEqual(idsOnService());

    project.edit(bothNamed("shop", retains));
    await project.up();
    const ids = idsOnService();
    const taken = await project.failing(`pulumi up --replace '${urn}'`);
    const [, whoHas = ""] = /`(npx pulumi-endpoints who-has ep_[^`]+)`/.exec(taken) ?? [];
    expect(await project.sh(whoHas)).toContain("its replacement is pending");
    const message = await project.failing("pulumi up");
    const [, line = ""] = /`(pulumi up --config endpoints:adopt=\w+)`/.exec(message) ?? [];
    await project.sh(line);
    expect(idsOnService()).toEqual(ids);
    expect(await project.ids()).toEqual(ids);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, a stack whose key is another account's is told so, and moves there as the page says",
  async () => {
    const { project, emulator, idsOnService } = await deployed();
    const ids = idsOnService();
    project.env["ENDPOINTS_API_KEY"] = emulator.addKey({ account: "other" });
    expect(await project.sh("pulumi preview --expect-no-changes")).toContain(
      "was written with another key or base URL",
    );
    const forget = commandIn("Tasks", /^pulumi state delete/);
    for (const { urn } of await project.endpoints()) await project.sh(forget.replace("URN", `'${urn}'`));
    await project.sh(commandIn("Tasks", /^pulumi up$/));
    expect(idsOnService()).toEqual(ids);
    expect(await project.ids()).toEqual(
      emulator
        .endpointsOf("other")
        .map(({ id }) => id)
        .sort(),
    );
  },
);

/** The commands of the numbered steps by which members of a pool are adopted, without the edits of steps 1 and 5. */
function commandsForMembers() {
  const [, , cancel = "", preview = "", deploy = ""] = sectionOf("Adopt members of a pool", "adoption").split(
    /^\d\. /m,
  );
  const [unlock, look, apply] = [cancel, preview, deploy].map((step) =>
    [...step.matchAll(/`(pulumi [^`]+)`/g)].map(([, command = ""]) => command),
  );
  expect([unlock, look, apply]).toEqual([
    ["pulumi cancel"],
    ["pulumi preview"],
    ["pulumi refresh --yes --clear-pending-creates", "pulumi up"],
  ]);
  return { unlock: "pulumi cancel", look: "pulumi preview", apply: apply?.join("\n") ?? "" };
}

describe.skipIf(!cli)("with the Pulumi CLI, beside another stack in the same pool", () => {
  const member = (name: string, more = "", options = "") =>
    `new CloudEndpoint("${name}", { url: "${SHOP}", poolingEnabled: true, description: "${name}"${more} }, { protect: true${options} });\n`;

  test.each(["dynamic", "plugin"])(
    "what a killed run left in and out of a pool is adopted in the order of the page, and each member is there once (%s)",
    async (provider) => {
      const emulator = await emulatedService();
      const backend = new Backend(emulator);
      const neighbour = await backend.project(member("theirs"), { name: "edge" });
      await neighbour.up();
      const program = (adopt: Record<string, string>) =>
        ["one", "two", "three"]
          .flatMap((name) => [
            `new CloudEndpoint("${name}", { url: "https://${name}.example.com", adopt: ${JSON.stringify(adopt[name])} });\n`,
            member(`web-${name}`, `, adopt: ${JSON.stringify(adopt[`web-${name}`])}`),
          ])
          .join("");
      const environment = { ENDPOINTS_PROVIDER: provider };
      const project = await backend.project(program({}), { environment });
      // The answers come after the kill.
      emulator.intercept("create", { afterCommit: true, delayMs: 60_000 }, 4);
      const up = project.startUp("--parallel", "4");
      await until(() => emulator.endpoints.length === 5);
      await up.killEngine();
      const left = structuredClone(emulator.endpoints);

      const { stdout } = await project.command("drift", "--json", "-");
      const [{ pendingCreates = [], recovery = undefined } = {}] = reportSchema.parse(
        JSON.parse(stdout),
      ).stacks;
      expect(recovery).toMatchObject({ adopt: [], text: expect.stringContaining("Adopt members of a pool") });
      expect(recovery?.command).toBeUndefined();
      const free = new Set(pendingCreates.flatMap((one) => one.left ?? []));
      expect(free.size).toBe(4);
      const adopt: Record<string, string> = {};
      for (const { name, left: ids = [] } of pendingCreates) {
        const id = ids.find((one) => free.delete(one));
        if (id !== undefined) adopt[name] = id;
      }
      expect(Object.keys(adopt)).toHaveLength(4);

      const { unlock, look, apply } = commandsForMembers();
      project.edit(program(adopt));
      await project.sh(unlock);
      const preview = await project.sh(look);
      for (const id of Object.values(adopt)) expect(preview).toContain(`adopts ${id}`);
      await project.sh(apply);
      const live = structuredClone(emulator.endpoints);
      expect(live).toHaveLength(7);
      expect(live.map(({ id }) => id)).toEqual(expect.arrayContaining(left.map(({ id }) => id)));
      expect(
        live
          .map(({ description }) => description)
          .filter(Boolean)
          .sort(),
      ).toEqual(["theirs", "web-one", "web-two", "web-three"].sort());
      project.edit(program({}));
      await project.up();
      for (const one of [project, neighbour]) await one.sh("pulumi preview --expect-no-changes");
      expect(emulator.endpoints).toEqual(live);
      for (const one of [project, neighbour]) expect(await one.command("drift")).toMatchObject({ code: 0 });
    },
  );

  test("two stacks that were killed in one pool clear neither, and take the steps one after the other", async () => {
    const emulator = await emulatedService();
    const backend = new Backend(emulator);
    const program = (name: string, more = "") =>
      `const first = ${member(`${name}-1`)}${member(`${name}-2`, more, ", dependsOn: [first]")}`;
    const start = async (name: string) => {
      const project = await backend.project(program(name), { name });
      const { length } = emulator.endpoints;
      // The answer to the second create comes after the kill.
      const isSecond = ({ method }: { method: string }) =>
        method === "POST" && emulator.endpoints.length > length;
      emulator.intercept(isSecond, { afterCommit: true, delayMs: 60_000 });
      const up = project.startUp();
      await until(() => emulator.endpoints.length === length + 2);
      await up.killEngine();
      return { name, project };
    };
    const both = [await start("api"), await start("web")];
    const ids = emulator.endpoints.map(({ id }) => id).sort();
    const free = emulator.endpoints.filter(({ description }) => description?.endsWith("-2"));
    for (const { project } of both) {
      const { code, stdout } = await project.command("drift");
      expect(code).toBe(8);
      expect(stdout).toMatch(/creates of (api|web)\/test, (api|web)\/test are pending in a pool/);
      for (const { id } of free) expect(stdout).toContain(id);
      expect(stdout).not.toMatch(/--stack|[2-9] of other stacks|unmanaged https/);
    }
    const { unlock, look, apply } = commandsForMembers();
    // Any member fits.
    for (const [index, { name, project }] of both.entries())
      project.edit(program(name, `, adopt: "${free[1 - index]?.id}"`));
    for (const { project } of both) await project.sh([unlock, look, apply].join("\n"));
    for (const { name, project } of both) {
      project.edit(program(name));
      await project.sh("pulumi preview --expect-no-changes");
    }
    expect(emulator.endpoints.map(({ id }) => id).sort()).toEqual(ids);
    expect(emulator.endpoints.map(({ description }) => description).sort()).toEqual([
      "api-1",
      "api-2",
      "web-1",
      "web-2",
    ]);
  });
});

test.skipIf(!cli)(
  "with the Pulumi CLI, a project and its stack get other names, an edit by hand is accepted without a write, and an endpoint outlives its stack",
  async () => {
    const { project, emulator, idsOnService, idOf, urnOf } = await deployed();
    const [ids, kept] = [idsOnService(), idOf(API)];
    const listed = (command: RegExp) => commandIn("Tasks", command);
    const rename = listed(/^pulumi stack rename/);
    await project.sh(`pulumi stack init dev\n${rename}\n${rename.replace(/live|prod/g, "dev")}`);
    const settings = join(project.folder, "Pulumi.yaml");
    writeFileSync(settings, readFileSync(settings, "utf8").replace("name: shop", "name: store"));
    await project.sh(`${listed(/^pulumi stack select/)}\n${listed(/^pulumi preview/)}`);
    expect(await project.sh("pulumi stack ls")).toContain("dev");
    expect(await project.ids()).toEqual(ids);

    emulator.edit(idOf(SHOP), { description: "edited by hand" });
    project.edit(bothNamed("shop").replace("front door", "edited by hand"));
    const { length } = emulator.requests;
    await project.sh(commandIn("What happened\\?", /^pulumi up --refresh$/));
    expect(emulator.requests.slice(length).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await project.sh(DRIFT)).toContain(NO_DRIFT);

    const forget = listed(/^pulumi state delete/).replace("URN", `'${await urnOf(API)}'`);
    await project.sh(`${forget}\n${listed(/^pulumi destroy$/)} --yes`);
    expect([await project.ids(), idsOnService()]).toEqual([[], [kept]]);
    await project.sh(`${listed(/^pulumi stack rm prod$/).replace("prod", "live")} --yes`);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, an `up` that failed halfway is finished by another one, and the loop of the upgrade looks at each stack",
  async () => {
    const { project, emulator, idsOnService } = await start("prod");
    const on = (name: string) =>
      `new CloudEndpoint("${name}", { url: "https://${name}." + pulumi.getStack() + ".example.com" });`;
    project.edit(on("a") + on("b") + on("c"));
    emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18010" } });
    expect(await project.failing("pulumi up")).toContain("ERR_NGROK_18010");
    await project.sh(commandIn("What happened\\?", /^pulumi up$/));
    expect(await project.ids()).toEqual(idsOnService());
    expect(idsOnService()).toHaveLength(3);

    await project.sh("pulumi stack init dev");
    await project.up();
    writeFileSync(join(project.folder, "stacks.yaml"), "projects:\n  - folder: .\n    stacks: [dev, prod]\n");
    const loop = commandIn("Upgrade", /^npx pulumi-endpoints stacks/, "upgrading");
    expect((await project.sh(loop)).match(/4 unchanged/g)).toHaveLength(2);
  },
);

/** A stack of another project on the same account, in the same backend. */
async function withNeighbour({ backend }: Awaited<ReturnType<typeof start>>, program: string) {
  const environment = { PULUMI_CONFIG_PASSPHRASE: "of the other project" };
  const neighbour = await backend.project(program, { name: "edge", stack: "prod", environment });
  await neighbour.up();
  return neighbour;
}

test.skipIf(!cli)(
  "with the Pulumi CLI, a restored backup catches up without a write, a lost passphrase leaves all endpoints, and one that was deleted by hand is dropped",
  async () => {
    const fixture = await deployed();
    const { project, emulator, idsOnService, idOf } = fixture;
    const neighbour = await withNeighbour(fixture, "");
    await project.setSecret("word", "secret");
    await project.sh("pulumi up\npulumi stack export --file backup.json");
    const moved = API.replace("https", "http");
    project.edit(`${bothNamed("shop").replace(API, moved)}\nnew CloudEndpoint("docs", { url: "${DOCS}" });`);
    await project.up();
    const ids = idsOnService();
    await project.sh("pulumi stack import --file backup.json");
    const report = await project.failing(DRIFT);
    const unmanaged = [...report.matchAll(/unmanaged \S+ \((ep_\w+)/g)].map(([, id]) => id);
    const catchUp = commandIn("The state is lost", /^pulumi up --refresh/);
    const { length } = emulator.requests;
    await project.sh(catchUp.replace("ep_1,ep_2", unmanaged.join(",")));
    await project.sh("pulumi config rm endpoints:adopt");
    expect(emulator.requests.slice(length).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await project.sh(DRIFT)).toContain("None of 3 cloud endpoints drifted.");
    expect(await project.ids()).toEqual(ids);

    project.env["PULUMI_CONFIG_PASSPHRASE"] = "another";
    expect(await project.failing("pulumi preview")).toContain("incorrect passphrase");
    const stillWorks = ["pulumi stack export", "pulumi stack ls"];
    for (const command of stillWorks) expect(await project.sh(command)).toContain("prod");
    const whoHas = commandIn("The passphrase is wrong", /who-has URL$/).replace("URL", SHOP);
    expect(await neighbour.sh(whoHas)).toContain("'shop' of the stack");
    await project.sh(`${commandIn("The passphrase is wrong", /^pulumi stack rm/)} --yes`);
    await project.sh(`pulumi stack init prod\n${lineOfLostState(ids)}`);
    expect([await project.ids(), idsOnService()]).toEqual([ids, ids]);

    emulator.remove(idOf(SHOP));
    project.edit(`new CloudEndpoint("api", { url: "${moved}" });`);
    await project.sh("pulumi up");
    expect(await project.ids()).toEqual([idOf(moved)]);
    expect(await project.sh(DRIFT)).toContain("None of 1 cloud endpoint drifted.");
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, two protected resources of which one depends on the other swap their URLs by a third one",
  async () => {
    const third = "https://third.example.com";
    const swapped = (one: string, two: string) =>
      `const one = new CloudEndpoint("one", { url: "${one}" }, { protect: true });
new CloudEndpoint("two", { url: "${two}" }, { protect: true, dependsOn: [one] });`;
    const fixture = await start("prod", swapped(SHOP, API));
    const { project, emulator, idsOnService } = fixture;
    await project.up();
    await withNeighbour(fixture, `new CloudEndpoint("other", { url: "https://other.example.com" });`);
    const ids = idsOnService();
    const urls = () => Object.fromEntries(emulator.endpoints.map(({ id, url = "" }) => [id, url]));
    const before = urls();
    project.edit(swapped(API, SHOP));
    const message = await project.failing("pulumi up");
    const [, whoHas = ""] = /`(npx pulumi-endpoints who-has ep_[^`]+)`/.exec(message) ?? [];
    expect(await project.sh(whoHas)).toMatch(/'two' of the stack .* has it[\s\S]*See "A URL that is taken"/);
    expect(urls()).toEqual(before);
    expect(sectionOf("A URL that is taken", "operations")).toMatch(
      /the other depends on a third URL, run `pulumi up`/,
    );
    project.edit(swapped(third, SHOP));
    await project.sh("pulumi up");
    project.edit(swapped(API, SHOP));
    await project.sh("pulumi up");
    await project.sh("pulumi preview --expect-no-changes");
    expect(idsOnService()).toEqual(ids);
    const goal: Record<string, string> = { [SHOP]: API, [API]: SHOP };
    expect(urls()).toEqual(
      Object.fromEntries(Object.entries(before).map(([id, url]) => [id, goal[url] ?? url])),
    );
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, the state gives up a shared endpoint first, and no run of a pipeline in between deletes it",
  async () => {
    const fixture = await deployed();
    const { project, idsOnService, idOf } = fixture;
    const id = idOf(API);
    const own = `new CloudEndpoint("own", { url: "https://own.example.com" }, { protect: true });\n`;
    const adopting = `${own}new CloudEndpoint("api", { url: "${API}", adopt: "${id}" }, { protect: true });`;
    const neighbour = await withNeighbour(fixture, adopting);
    const ids = idsOnService();
    const section = sectionOf("Two resources share an endpoint", "operations");
    const giveUp = async () => {
      const named = await project.sh(`npx pulumi-endpoints who-has ${id}`);
      expect(named).toContain('See "Two resources share an endpoint"');
      const [, urn = ""] = /edge.*\((urn:pulumi:prod::edge::.*)\)/.exec(named) ?? [];
      const [, forget = ""] = /`(pulumi state delete --force URN --stack NAME)`/.exec(section) ?? [];
      await neighbour.sh(forget.replace("URN", `'${urn}'`).replace("NAME", "prod"));
      expect(idsOnService()).toEqual(ids);
    };
    await giveUp();
    // A pipeline takes it again by `adopt`.
    await neighbour.sh("pulumi up");
    await giveUp();
    // Without `adopt`, its run fails on the URL.
    neighbour.edit(adopting.replace(/, adopt: "\w+"/, ""));
    expect(await neighbour.failing("pulumi up")).toContain(`is served by ${id}`);
    expect(idsOnService()).toEqual(ids);
    neighbour.edit(own);
    await neighbour.sh("pulumi up");
    expect(section).toContain("`pulumi up --refresh`");
    await project.sh("pulumi up --refresh");
    for (const one of [project, neighbour]) await one.sh("pulumi preview --expect-no-changes");
    expect(await project.sh(`npx pulumi-endpoints who-has ${id}`)).not.toContain("edge");
    expect(idsOnService()).toEqual(ids);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, an endpoint moves to a stack of another project, and an `up` in between fails on its URL",
  async () => {
    const { project, backend, idsOnService, urnOf } = await deployed();
    const web = 'new CloudEndpoint("web", { url: "https://web.example.com" });\n';
    const other = await backend.project(web, { name: "web", stack: "prod" });
    await other.up();
    const ids = idsOnService();
    const [shop = "", api = ""] = bothNamed("shop").split("\n");
    const line = commandIn("Move an endpoint to another stack", /^pulumi state move/, "adoption");
    const move = line.replace("URN", `'${await urnOf(API)}'`);
    other.edit(web + api);
    expect(await other.failing("pulumi up --skip-preview")).toContain("is served by");
    await project.sh(`${move} --yes`);
    expect(await project.failing("pulumi up --skip-preview")).toContain("is served by");
    project.edit(shop);
    for (const one of [project, other])
      await one.sh("pulumi preview --expect-no-changes\npulumi up --skip-preview");
    expect(idsOnService()).toEqual(ids);
    expect([(await project.ids()).length, (await other.ids()).length]).toEqual([1, 2]);
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, an `endpoints:adopt` that stays in a stack with a pool is taken out, and no member is shared or doubled",
  async () => {
    const member = (name: string, options: string) =>
      `const ${name} = new CloudEndpoint("${name}", { url: "${SHOP}", poolingEnabled: true }, { protect: true, ${options} });\n`;
    const members = (dependsOn: string) => ["a", "b", "c"].map((name) => member(name, dependsOn)).join("");
    const fixture = await start("prod", members(""));
    const { project, idsOnService } = fixture;
    await project.up();
    await withNeighbour(fixture, `new CloudEndpoint("other", { url: "https://other.example.com" });`);
    const ids = idsOnService();
    const [left = ""] = await project.ids();
    await project.sh(`pulumi config set endpoints:adopt ${left}`);
    // Pulumi asks for the new resource first.
    project.edit(member("added", "") + members("dependsOn: [added]"));
    const message = await project.failing("pulumi up");
    const [, remedy = ""] = /take it out \(`(pulumi config rm endpoints:adopt)`\)/.exec(message) ?? [];
    await project.sh(`${remedy}\npulumi up`);
    expect(idsOnService()).toHaveLength(ids.length + 1);
    expect(await project.ids()).toHaveLength(4);
    expect(new Set(await project.ids()).size).toBe(4);
    await project.sh("pulumi preview --expect-no-changes");
  },
);

test.skipIf(!cli)(
  "with the Pulumi CLI, a URL becomes free by an alias of a removed resource, by `dependsOn`, and by the removal of a list's last element",
  async () => {
    const at = (label: string) => `https://${label}.example.com`;
    const one = (name: string, label: string, options = "") =>
      `const ${name} = new CloudEndpoint("${name}", { url: "${at(label)}" }, { protect: true, ${options} });\n`;
    const list = (...labels: string[]) => labels.map((label, index) => one(`l${index}`, label)).join("");
    const own = one("removed", "shop") + one("first", "a") + one("second", "b");
    const { project, emulator, idsOnService } = await start("prod", own + list("x", "y", "z"));
    await project.up();
    const idOf = (label: string) => emulator.endpoints.find(({ url }) => url === at(label))?.id;
    const ids = idsOnService();
    const before = ["shop", "a", "b", "x", "y"].map(idOf);
    const last = idOf("z");
    const urn = (await project.endpoints()).find(({ id }) => id === last)?.urn ?? "";

    const chain = (options: string) => one("second", "c") + one("first", "b", options);
    const fresh = one("fresh", "shop", 'aliases: [{ name: "removed" }]');
    project.edit(one("fresh", "shop") + list("x", "y", "z") + one("first", "a") + one("second", "b"));
    expect(await project.failing("pulumi up")).toContain("Renamed? Give it `aliases`");
    project.edit(fresh + chain("dependsOn: [second]") + list("x", "y", "z"));
    await project.sh("pulumi up --parallel 1");
    expect(["shop", "b", "c", "x", "y"].map(idOf)).toEqual(before);

    const shorter = fresh + chain("dependsOn: [second]") + list("y", "z");
    project.edit(shorter);
    expect(await project.failing("pulumi up")).toContain("is served by");
    expect(idsOnService()).toEqual(ids);
    await project.sh(`pulumi state unprotect '${urn}' --yes\npulumi up --target '${urn}'\npulumi up`);
    expect(["shop", "b", "c", "y", "z"].map(idOf)).toEqual(before);
    expect(idsOnService()).toHaveLength(ids.length - 1);
    await project.sh("pulumi preview --expect-no-changes");
  },
);
