import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { fileInstalled, newCommand } from "../../sdk/commands/new";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { runInProcess } from "./runCommand";

const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const manifestIn = (...path: string[]) => JSON.parse(read(...path, "package.json"));
const PACK = `(cd ${root} && npm pack --silent)`;

const examples = readdirSync(join(root, "examples")).filter((name) =>
  existsSync(join(root, "examples", name, "package.json")),
);

/** The examples that need the plugin. */
const USES_PLUGIN = ["accounts", "go", "python", "quickstart-python", "quickstart-yaml", "yaml"];

/** The file that `npm pack` makes in the clone in which the tests run. */
const packed = join(root, `pulumi-endpoints-${manifestIn(root).version}.tgz`);

/** Runs the command in an empty folder, and returns the commands in its output, in order. */
async function makeNew(example: string, folder = "shop", account?: { baseUrl: string; apiKey: string }) {
  const cwd = process.cwd();
  const empty = temporaryFolder();
  process.chdir(empty);
  onTestFinished(() => process.chdir(cwd));
  const result = await runInProcess(newCommand, [example, folder], account);
  process.chdir(cwd);
  const commands = [...result.stdout.matchAll(/^ {2}(.+)$/gm)].map(([, line = ""]) => line);
  return { ...result, commands, project: join(empty, folder) };
}

test("without an example, new lists each example in a line, and so does a usage error with the nearest name", async () => {
  const { code, stdout } = await runInProcess(newCommand, []);
  expect(code).toBe(0);
  for (const example of examples) expect(stdout).toMatch(new RegExp(`^  ${example} +[A-Z]`, "m"));
  const wrong = await makeNew("quikstart");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/^ {2}python [\s\S]*no example quikstart; did you mean quickstart\?\n$/m);
  expect(existsSync(wrong.project)).toBe(false);
});

test.each(examples)(
  "new %s copies the example, gives it the folder's name and this package, and prints its own commands",
  async (example) => {
    const { code, stdout, stderr, commands, project } = await makeNew(example);
    expect([code, stderr]).toEqual([0, ""]);
    const manifest = manifestIn(project);
    expect(manifest).not.toHaveProperty("new");
    // The tests run in a clone, whose package may be on no registry.
    const dependencies = { "pulumi-endpoints": `file:${relative(project, packed)}` };
    expect(manifest).toMatchObject({ name: "shop", private: true, dependencies });
    const { new: own = {}, scripts = {} } = manifestIn(root, "examples", example);
    const deploy: string[] = own.deploy ?? ["pulumi stack init dev", "pulumi up"];
    const requests = own.host ? [expect.stringMatching(`^curl .* http://${own.host}$`)] : [];
    expect(commands.slice(-deploy.length - requests.length)).toEqual([...deploy, ...requests]);
    expect(commands.includes("npm test")).toBe("test" in scripts);
    expect(read(project, ".gitignore")).toMatch(/node_modules\/[\s\S]*\.endpoints\.json\*/);
    const isTypeScript = existsSync(join(project, "index.ts"));
    expect("typescript" in (manifest.devDependencies ?? {})).toBe(isTypeScript);
    expect(existsSync(join(project, "tsconfig.json"))).toBe(isTypeScript);
    // Only a deployment needs an account.
    const isDeployed = example !== "policy-pack";
    expect(commands.some((line) => line.startsWith("export ENDPOINTS_BASE_URL="))).toBe(isDeployed);
    if (!isDeployed) return;
    const { name, plugins, packages } = parse(read(project, "Pulumi.yaml"));
    expect(name).toBe("shop");
    // For `pulumi import`.
    const named = plugins?.providers.find((provider: { name: string }) => provider.name === "endpoints").path;
    expect(named ?? packages.endpoints).toBe("node_modules/pulumi-endpoints/provider/plugin");
    // Where a program can choose, a line says why it would.
    expect(/: pulumi config set endpoints:provider plugin$/m.test(stdout)).toBe(
      !USES_PLUGIN.includes(example),
    );
    expect(manifest.scripts.emulator).toMatch(
      /^pulumi-endpoints emulator --state .endpoints.json --serve \d+$/,
    );
    const { endpoints } = JSON.parse(read(project, ".endpoints.json"));
    expect(endpoints).toHaveLength(own.seed?.length ?? 0);
  },
);

test.each([
  ["file:../package.tgz", "node_modules", "file:../package.tgz"],
  ["./package.tgz", "node_modules", "file:../user/package.tgz"],
  [
    "file:../package.tgz",
    "node_modules/.pnpm/pulumi-endpoints@file+package.tgz/node_modules",
    "file:../package.tgz",
  ],
  // Then npm names the file.
  ["file:../no-longer-there.tgz", "node_modules", "file:../no-longer-there.tgz"],
  ["^0.1.0", "node_modules", undefined],
  [undefined, "node_modules", undefined],
])("a package that was installed as %s in %s gives a new project %s", (given, modules, expected) => {
  const folder = temporaryFolder();
  const user = join(folder, "user");
  const installed = join(user, modules, "pulumi-endpoints");
  mkdirSync(installed, { recursive: true });
  for (const place of [folder, user]) writeFileSync(join(place, "package.tgz"), "");
  const manifest = { devDependencies: given === undefined ? {} : { "pulumi-endpoints": given } };
  writeFileSync(join(user, "package.json"), JSON.stringify(manifest));
  expect(fileInstalled(installed, join(folder, "shop"))).toBe(expected);
});

test("the settings of an example's stacks are under the new project's name", async () => {
  const { project } = await makeNew("environments", "shop");
  const { config } = parse(read(project, "Pulumi.prod.yaml"));
  expect(Object.keys(config)).toEqual(["shop:domain", "shop:requestsPerMinute", "shop:maintenance"]);
});

test.each([
  ["My Shop!", "my-shop"],
  ["店", "quickstart"],
  ["pulumi-endpoints", "quickstart"],
])("in the folder %s, the project's name is %s", async (folder, name) => {
  const { project } = await makeNew("quickstart", folder);
  expect([parse(read(project, "Pulumi.yaml")).name, manifestIn(project).name]).toEqual([name, name]);
});

test("a folder with a file is refused and stays as it is, and a repository without files is not", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".git"));
  expect((await runInProcess(newCommand, ["quickstart", folder])).code).toBe(0);
  const files = readdirSync(folder);
  const { code, stderr } = await runInProcess(newCommand, ["yaml", folder]);
  expect(code).toBe(2);
  expect(stderr).toContain(`the folder ${folder} is not empty (.endpoints.json)`);
  expect(readdirSync(folder)).toEqual(files);
  expect((await runInProcess(newCommand, ["yaml", join(folder, "index.ts")])).stderr).toContain("is a file");
});

test("without a key, the printed commands deploy on the emulator of the project, and send its endpoint a request", async () => {
  const { commands, project } = await makeNew("quickstart", "my shop");
  const { port, apiKey } = JSON.parse(read(project, ".endpoints.json"));
  const [serves] = /\d+$/.exec(manifestIn(project).scripts.emulator) ?? [];
  expect(serves).not.toBe(`${port}`);
  expect(commands).toEqual([
    ...(existsSync(packed) ? [] : [PACK]),
    "cd 'my shop'",
    "npm install",
    `cd '${project}'`,
    "npm run emulator",
    "export PULUMI_BACKEND_URL=file://. PULUMI_CONFIG_PASSPHRASE=trial",
    `export ENDPOINTS_BASE_URL=http://127.0.0.1:${port} ENDPOINTS_API_KEY=${apiKey}`,
    "pulumi stack init dev",
    "pulumi up",
    `curl --connect-to ::127.0.0.1:${serves} http://shop.example.com`,
  ]);
});

test("new names npm pack only until the clone has the package's file", async () => {
  const isMissing = !existsSync(packed);
  if (isMissing) {
    expect((await makeNew("quickstart")).commands).toContain(PACK);
    writeFileSync(packed, "");
    onTestFinished(() => rmSync(packed));
  }
  expect((await makeNew("quickstart")).commands[0]).toBe("cd shop");
});

test.each([
  [
    "",
    ["export ENDPOINTS_BASE_URL=https://api.ngrok.com"],
    "Give the endpoints in index.ts URLs of your account",
  ],
  ["https://api.example.com", [], "Give the endpoints in index.ts URLs of your account"],
  [
    "http://127.0.0.1:8080",
    [],
    "Give the endpoints in index.ts URLs that http://127.0.0.1:8080 does not have yet",
  ],
])(
  "with a key, the printed commands deploy on that account at '%s', without an emulator",
  async (baseUrl, set, text) => {
    const { stdout, commands, project } = await makeNew("quickstart", "shop", { baseUrl, apiKey: "a key" });
    expect(commands).toEqual([
      ...(existsSync(packed) ? [] : [PACK]),
      "cd shop",
      "npm install",
      ...set,
      "pulumi stack init dev",
      "pulumi up",
    ]);
    expect(stdout).toContain(text);
    expect(stdout).not.toMatch(/emulator|a key/);
    expect(read(project, "package.json")).not.toContain("emulator");
    expect(existsSync(join(project, ".endpoints.json"))).toBe(false);
  },
);
