import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { root } from "./pack";

/** How people install packages: the command that adds some, the files it wants before, and how Node is started after. */
interface Manager {
  add: string[];
  files?: Record<string, string>;
  /** Default: plainly. */
  node?: string[];
  /** What a program needs beside the package and Pulumi. */
  needs?: string[];
  /** The version of Pulumi's SDK. Default: the one that this repository is tested with; the newest may want a newer Node. */
  pulumi?: string;
}

const { devDependencies, peerDependencies } = z
  .object({
    devDependencies: z.record(z.string(), z.string()),
    peerDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

const NPM = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"];

const YARN_4 = ["npx", "--yes", "--package", "@yarnpkg/cli-dist@4", "yarn"];

export const managers = {
  npm: { add: NPM },
  "npm, with the oldest SDK of Pulumi": {
    add: NPM,
    pulumi: peerDependencies["@pulumi/pulumi"]?.replace("^", "") ?? "",
  },
  "pnpm 9": { add: ["npx", "--yes", "pnpm@9", "add"] },
  "Yarn 1": { add: ["npx", "--yes", "yarn@1", "add"] },
  "Yarn 4 with node_modules": {
    add: [...YARN_4, "add"],
    files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n" },
  },
  // The TypeScript that comes with Pulumi finds nothing there; a project's own is made to by Yarn.
  "Yarn 4 with Plug'n'Play": {
    add: [...YARN_4, "add"],
    files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: pnp\n" },
    node: [...YARN_4, "node"],
    needs: ["typescript@~5.9"],
  },
} satisfies Record<string, Manager>;

export type ManagerName = keyof typeof managers;

/** The program that the README begins with. */
export function readmeProgram(): string {
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  if (program === undefined) throw new Error("the README begins with no program");
  return program;
}

/** Takes the program through its life with the test kit of the package that is installed, and prints each step as JSON. */
const LIFE = `
const { TestStack } = require("pulumi-endpoints/testing");
async function main(driver) {
  const stack = await TestStack.create({ program: ".", driver });
  try {
    const seen = [];
    for (const command of ["preview", "up", "refresh", "destroy"]) {
      const { changes, requests } = await stack[command](command === "up" ? { skipPreview: true } : {});
      seen.push({ command, changes, requests: requests.map(({ method }) => method) });
    }
    console.log(JSON.stringify(seen));
  } finally {
    await stack.close();
  }
}
main(process.argv[2]).catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

/** Tells what an ES module can import by name from each entry, as Node itself finds it, and what there is. */
const NAMES = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const seen = {};
for (const entry of ["pulumi-endpoints", "pulumi-endpoints/provider", "pulumi-endpoints/testing"]) {
  const byName = Object.keys(await import(entry));
  seen[entry] = Object.keys(require(entry)).map((name) => [name, byName.includes(name)]);
}
console.log(JSON.stringify(seen));
`;

/** An empty folder into which somebody installs the package, and writes the README's program. */
export async function installWith(name: ManagerName, within: string, tarball: string): Promise<Installed> {
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, "shop-"));
  const manager: Manager = managers[name];
  const files = {
    ...manager.files,
    "package.json": '{ "name": "shop", "private": true }\n',
    "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
    "index.ts": readmeProgram(),
    "life.cjs": LIFE,
    "names.mjs": NAMES,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const pulumi = manager.pulumi ?? devDependencies["@pulumi/pulumi"];
  await run(folder, [...manager.add, tarball, `@pulumi/pulumi@${pulumi}`, ...(manager.needs ?? [])]);
  return new Installed(folder, manager.node ?? [process.execPath]);
}

export class Installed {
  constructor(
    private readonly folder: string,
    private readonly node: string[],
  ) {}

  async life(driver: "kit" | "cli"): Promise<unknown> {
    return JSON.parse(lastLine(await run(this.folder, [...this.node, "life.cjs", driver])));
  }

  /** The names that ES modules cannot import, as `entry: name`, and how many there are in all. */
  async names(): Promise<{ all: number; missing: string[] }> {
    const output = JSON.parse(lastLine(await run(this.folder, [...this.node, "names.mjs"])));
    const names = Object.entries(
      z.record(z.string(), z.array(z.tuple([z.string(), z.boolean()]))).parse(output),
    ).flatMap(([entry, of]) => of.map(([name, found]) => ({ name: `${entry}: ${name}`, found })));
    return { all: names.length, missing: names.filter(({ found }) => !found).map(({ name }) => name) };
  }
}

function run(cwd: string, [command = "", ...args]: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    // Not the settings that npm hands to its scripts, which other package managers would take for their own settings.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    execFile(command, args, { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`));
    });
  });
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? "";
