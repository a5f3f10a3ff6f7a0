import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { newCommand } from "../../sdk/commands/new";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";
import { runInProcess } from "./runCommand";

const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const { version } = JSON.parse(read(root, "package.json"));

const examples = readdirSync(join(root, "examples")).filter(
  (name) => name !== "template" && existsSync(join(root, "examples", name, "package.json")),
);

/** Runs the command in an empty folder. */
async function makeNew(example: string, folder = "shop", account?: { baseUrl: string; apiKey: string }) {
  const cwd = process.cwd();
  const empty = temporaryFolder();
  process.chdir(empty);
  onTestFinished(() => process.chdir(cwd));
  const result = await runInProcess(newCommand, [example, folder], account);
  process.chdir(cwd);
  return { ...result, project: join(empty, folder) };
}

/** The commands that it printed, in their order. */
const commandsIn = (stdout: string) => [...stdout.matchAll(/^ {2}(.+)$/gm)].map(([, line = ""]) => line);

test("without an example, new lists each with a line", async () => {
  const { code, stdout } = await runInProcess(newCommand, []);
  expect(code).toBe(0);
  for (const example of examples) expect(stdout).toMatch(new RegExp(`^  ${example} +[A-Z]`, "m"));
  expect(stdout).not.toContain("template");
});

test("an unknown example is a usage error with the nearest name and the list, and makes nothing", async () => {
  const { code, stdout, stderr, project } = await makeNew("quikstart");
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^ {2}python [\s\S]*there is no example quikstart; did you mean quickstart\? \(.*\)\n$/m,
  );
  expect(stdout).toBe("");
  expect(existsSync(project)).toBe(false);
});

test.each(examples)(
  "new %s copies the example, and gives it the folder's name and this version",
  async (example) => {
    const { code, stderr, project } = await makeNew(example);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const manifest = JSON.parse(read(project, "package.json"));
    expect(manifest).not.toHaveProperty("new");
    expect(manifest).toMatchObject({
      name: "shop",
      private: true,
      dependencies: { "@pulumi/pulumi": expect.any(String), "pulumi-endpoints": `^${version}` },
    });
    const isTypeScript = existsSync(join(project, "index.ts"));
    expect("typescript" in (manifest.devDependencies ?? {})).toBe(isTypeScript);
    expect("@types/node" in (manifest.devDependencies ?? {})).toBe(isTypeScript);
    if (isTypeScript)
      expect(JSON.parse(read(project, "tsconfig.json")).compilerOptions).toMatchObject({
        strict: true,
        module: "nodenext",
        types: ["node"],
      });
    expect(read(project, ".gitignore").split("\n")).toEqual(
      expect.arrayContaining(["node_modules/", "sdks/", "venv/", "bin/", ".endpoints.json*"]),
    );
    if (example === "policy-pack") return;
    const { name, plugins, packages } = parse(read(project, "Pulumi.yaml"));
    expect(name).toBe("shop");
    // For `pulumi import`.
    const named = plugins?.providers.find((provider: { name: string }) => provider.name === "endpoints").path;
    expect(named ?? packages.endpoints).toBe("node_modules/pulumi-endpoints/provider/plugin");
    expect(manifest.scripts.emulator).toBe("pulumi-endpoints emulator --state .endpoints.json");
  },
);

test("the settings of an example's stacks are under the new project's name", async () => {
  const { project } = await makeNew("environments", "shop");
  expect(Object.keys(parse(read(project, "Pulumi.prod.yaml")).config)).toEqual([
    "shop:domain",
    "shop:requestsPerMinute",
    "shop:maintenance",
  ]);
});

test.each([
  ["My Shop!", "my-shop"],
  [".hidden", "hidden"],
  ["2024", "2024"],
  ["店", "quickstart"],
  ["pulumi-endpoints", "quickstart"],
])("in the folder %s, the project's name is %s", async (folder, name) => {
  const { code, project } = await makeNew("quickstart", folder);
  expect(code).toBe(0);
  expect(parse(read(project, "Pulumi.yaml")).name).toBe(name);
  expect(JSON.parse(read(project, "package.json")).name).toBe(name);
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
  const file = join(folder, "index.ts");
  const before = read(file);
  expect((await runInProcess(newCommand, ["yaml", file])).stderr).toContain("is a file");
  expect(read(file)).toBe(before);
});

test("without a key, the printed commands deploy on the emulator of the project", async () => {
  const { stdout, project } = await makeNew("quickstart", "my shop");
  const { port, apiKey } = JSON.parse(read(project, ".endpoints.json"));
  expect(commandsIn(stdout)).toEqual([
    "cd 'my shop'",
    "npm install",
    `cd '${project}'`,
    "npm run emulator",
    "export PULUMI_BACKEND_URL=file://. PULUMI_CONFIG_PASSPHRASE=trial",
    `export ENDPOINTS_BASE_URL=http://127.0.0.1:${port} ENDPOINTS_API_KEY=${apiKey}`,
    "pulumi stack init dev",
    "pulumi up",
  ]);
});

test("with a key, the printed commands deploy on that account, and nothing is about an emulator", async () => {
  const account = { baseUrl: "", apiKey: "a key" };
  const { stdout, project } = await makeNew("quickstart", "shop", account);
  expect(commandsIn(stdout)).toEqual([
    "cd shop",
    "npm install",
    "export ENDPOINTS_BASE_URL=https://api.ngrok.com",
    "pulumi stack init dev",
    "pulumi up",
  ]);
  expect(stdout).not.toMatch(/emulator|a key/);
  expect(read(project, "package.json")).not.toContain("emulator");
  expect(existsSync(join(project, ".endpoints.json"))).toBe(false);

  const elsewhere = { baseUrl: "https://api.example.com", apiKey: "a key" };
  const { stdout: other } = await makeNew("quickstart", "shop", elsewhere);
  expect(other).not.toContain("ENDPOINTS_BASE_URL");
});

test.each([
  ["python", /^ {2}pulumi install\n {2}pulumi stack init dev\n {2}pulumi config set --secret stripeSecret$/m],
  ["go", /^ {2}pulumi install\n/m],
  ["yaml", /^ {2}pulumi config set partnerUrl "\$\{PARTNER_URL:-\$ENDPOINTS_BASE_URL\}"$/m],
  ["brex", /one by one, because Pulumi may ask for a value\.\n[\s\S]*config set --secret brexToken$/m],
  ["tenants", /^ {2}npm start -- up$/m],
  ["policy-tests", /^ {2}npm install\n {2}npm test\n[\s\S]*pulumi up$/m],
  ["policy-pack", /Run it with a program\.\n\n {2}pulumi preview --cwd PROGRAM --policy-pack "\$PWD"$/m],
])("the commands of %s include its own", async (example, own) => {
  const { stdout } = await makeNew(example);
  expect(stdout).toMatch(own);
});
