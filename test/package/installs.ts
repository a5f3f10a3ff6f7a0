import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { root } from "./pack";
import { TYPED_PROGRAM } from "./typedProgram";

/** A way to install the package. */
interface Installation {
  /** The package manager. */
  manager: string[];
  /** Its arguments that add packages. */
  add?: string[];
  /** Files that must exist before. */
  files?: Record<string, string>;
  /** The version of Node.js for everything. Default: the version that runs the tests. */
  nodeVersion?: string;
  /** The command that starts Node.js. Default: `node`. */
  node?: string[];
  /** Packages that the program also needs. */
  needs?: string[];
  /** Whether the project's own TypeScript checks the program, alone and when Pulumi runs it. */
  checksTypes?: boolean;
  /** Whether the plugin is left out. */
  dynamicOnly?: boolean;
  /** The version of Pulumi's SDK. Default: the version in this repository, since the newest may need a newer Node.js. */
  pulumi?: string;
}

type Provider = "dynamic" | "plugin";
type Driver = "kit" | "cli";

const versions = z.record(z.string(), z.string());
const { devDependencies, peerDependencies } = z
  .object({ devDependencies: versions, peerDependencies: versions })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

const npm = { manager: ["npm"], add: ["install", "--no-audit", "--no-fund", "--prefer-offline"] };
const byNpx = (spec: string, command = spec.replace(/@\d+$/, "")) => [
  ...["npx", "--yes", "--package", spec, command],
];
const yarn4 = byNpx("@yarnpkg/cli-dist@4", "yarn");

export const installations: [name: string, Installation][] = [
  ["npm", npm],
  [
    "npm, with the oldest SDK of Pulumi",
    { ...npm, pulumi: peerDependencies["@pulumi/pulumi"]?.replace("^", "") ?? "" },
  ],
  ["pnpm 10", { manager: byNpx("pnpm@10") }],
  [
    "pnpm 12 on Node.js 22",
    {
      manager: byNpx("pnpm@12"),
      // A dependency of Pulumi's SDK has an install script, and pnpm fails until somebody allows or denies it.
      files: { "pnpm-workspace.yaml": "allowBuilds: { protobufjs: false }\n" },
      nodeVersion: "22",
      pulumi: "3",
    },
  ],
  ["Yarn 1", { manager: byNpx("yarn@1") }],
  [
    "Yarn 4 with node_modules",
    { manager: yarn4, files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n" } },
  ],
  [
    "Yarn 4 with Plug'n'Play",
    {
      manager: yarn4,
      files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: pnp\n" },
      node: [...yarn4, "node"],
      // The TypeScript in Pulumi's SDK cannot resolve packages there. Yarn patches a project's own TypeScript so that it can.
      needs: ["typescript@~5.9"],
      // The plugin needs a folder, and Plug'n'Play has none.
      dynamicOnly: true,
    },
  ],
  ["Bun", { manager: byNpx("bun@1") }],
  ["npm on Node.js 20.19.0", { ...npm, nodeVersion: "20.19.0" }],
  ...["22", "24"].map((nodeVersion): [string, Installation] => [
    `npm on Node.js ${nodeVersion}, with the newest SDK of Pulumi`,
    { ...npm, nodeVersion, pulumi: "3" },
  ]),
  ...["5.2", "5.4", "5.5", "5.6", "5.7", "5.8", "5.9", "6.0"].map((version): [string, Installation] => [
    `npm and TypeScript ${version}`,
    {
      ...npm,
      needs: [`typescript@~${version}.0`, "@types/node@20"],
      checksTypes: true,
      dynamicOnly: true,
    },
  ]),
];

/** The first program in the README. */
export function readmeProgram(): string {
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  if (program === undefined) throw new Error("the README contains no program");
  return program;
}

/** Runs the program's commands with the installed test kit, and prints each result as JSON. */
const LIFE = `
const { TestStack } = require("pulumi-endpoints/testing");
async function main(driver, provider) {
  const config = { "endpoints:provider": provider };
  const stack = await TestStack.create({ program: ".", driver, config });
  try {
    const seen = [];
    for (const command of ["up", "refresh", "destroy"]) {
      const { changes, requests } = await stack[command](command === "up" ? { skipPreview: true } : {});
      seen.push({ command, changes, requests: requests.map(({ method }) => method) });
    }
    console.log(JSON.stringify(seen));
  } finally {
    await stack.close();
  }
}
main(...process.argv.slice(2)).catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

const PLUGIN =
  "plugins: { providers: [{ name: endpoints, path: node_modules/pulumi-endpoints/provider/plugin }] }";

/** Prints the number of all names of the entry points, and those that an ES module cannot import. */
const NAMES = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const seen = { all: 0, missing: [] };
for (const entry of ["pulumi-endpoints", "pulumi-endpoints/provider", "pulumi-endpoints/testing"]) {
  const imported = await import(entry);
  for (const name of Object.keys(require(entry))) {
    seen.all++;
    if (!(name in imported)) seen.missing.push(entry + ": " + name);
  }
}
console.log(JSON.stringify(seen));
`;

/**
 * Creates an empty folder with the README's program and installs the package there.
 *
 * @returns Undefined if the package manager or the version of Node.js cannot be had here.
 */
export async function install(
  installation: Installation,
  within: string,
  tarball: string,
): Promise<Installed | undefined> {
  const {
    manager,
    add = ["add"],
    files,
    dynamicOnly,
    nodeVersion,
    node,
    // Pulumi's own TypeScript 3.8 cannot read the README's program.
    needs = [`typescript@${devDependencies.typescript}`],
    checksTypes,
  } = installation;
  const folder = mkdtempSync(join(within, "shop-"));
  const pulumi = installation.pulumi ?? devDependencies["@pulumi/pulumi"];
  const written = {
    ...files,
    "package.json": '{ "name": "shop", "private": true }\n',
    "Pulumi.yaml": `name: shop\nruntime: nodejs\n${dynamicOnly ? "" : PLUGIN}`,
    "index.ts": readmeProgram(),
    "life.cjs": LIFE,
    "names.mjs": NAMES,
    ...(checksTypes && {
      "tsconfig.json": readFileSync(join(root, "examples", "tsconfig.json"), "utf8").replace(
        '"index.ts"',
        '"index.ts", "types.ts"',
      ),
      "types.ts": TYPED_PROGRAM,
    }),
  };
  for (const [file, text] of Object.entries(written)) writeFileSync(join(folder, file), text);

  const execPath = nodeVersion === undefined ? process.execPath : await pathOfNode(nodeVersion, folder);
  if (execPath === undefined) return undefined;
  const env = {
    PATH: `${dirname(execPath)}${delimiter}${process.env["PATH"]}`,
    ...(checksTypes && { PULUMI_NODEJS_TRANSPILE_ONLY: "false" }),
  };
  if ((await run(folder, [...manager, "--version"], env).catch(() => undefined)) === undefined)
    return undefined;
  await run(folder, [...manager, ...add, tarball, `@pulumi/pulumi@${pulumi}`, ...needs], env);
  return new Installed(folder, node ?? [execPath], env);
}

/** npm's package `node` contains the program. */
async function pathOfNode(version: string, cwd: string): Promise<string | undefined> {
  const path = `process.version.startsWith("v${version}") ? process.execPath : ""`;
  const command = [...byNpx(`node@${version}`, "node"), "--print", path];
  return (await run(cwd, command).then(lastLine, () => "")) || undefined;
}

export class Installed {
  constructor(
    private readonly folder: string,
    private readonly node: string[],
    private readonly env: Record<string, string>,
  ) {}

  /** What each command of the program's life changed, and its requests. */
  life = async (driver: Driver, provider: Provider): Promise<unknown> =>
    JSON.parse(lastLine(await this.runs(["life.cjs", driver, provider])));

  /** Fails with the compiler's messages. */
  checkTypes = () => this.runs(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."]);

  names = async (): Promise<unknown> => JSON.parse(lastLine(await this.runs(["names.mjs"])));

  /** Makes a project of an example with the installed command, and installs this version there. Returns its folder. */
  async newProject(example: string, tarball: string): Promise<string> {
    await this.runs(["node_modules/.bin/pulumi-endpoints", "new", example]);
    const project = join(this.folder, example);
    await run(project, [...npm.manager, ...npm.add, tarball]);
    return project;
  }

  private runs = (args: string[]) => run(this.folder, [...this.node, ...args], this.env);
}

/** Runs a command, and returns what it prints. */
function run(
  cwd: string,
  [command = "", ...args]: string[],
  more: Record<string, string> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Without the settings that npm passes to its scripts, which other package managers would read as theirs.
    const outer = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
    const env = { ...Object.fromEntries(outer), ...more };
    execFile(command, args, { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`));
    });
  });
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? "";
