import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { root } from "./pack";

/** A package manager. */
interface Manager {
  /** The command that adds packages. */
  add: string[];
  /** Files that must exist before. */
  files?: Record<string, string>;
  /** The command that starts Node.js. Default: `node`. */
  node?: string[];
  /** Packages that the program also needs. */
  needs?: string[];
  /** The version of Pulumi's SDK. Default: the one in this repository, since the newest may need a newer Node.js. */
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
  // The TypeScript in Pulumi's SDK cannot resolve packages there. Yarn patches a project's own TypeScript so that it can.
  "Yarn 4 with Plug'n'Play": {
    add: [...YARN_4, "add"],
    files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: pnp\n" },
    node: [...YARN_4, "node"],
    needs: ["typescript@~5.9"],
  },
} satisfies Record<string, Manager>;

export type ManagerName = keyof typeof managers;

/** The first program in the README. */
export function readmeProgram(): string {
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  if (program === undefined) throw new Error("the README contains no program");
  return program;
}

/** Runs the program's commands with the installed test kit, and prints each result as JSON. */
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

/** Prints all names of each entry point, and whether an ES module can import them. */
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

/** Creates an empty folder with the README's program and installs the package there. */
export async function installWith(name: ManagerName, within: string, tarball: string): Promise<Installed> {
  mkdirSync(within, { recursive: true });
  const folder = mkdtempSync(join(within, "shop-"));
  const manager: Manager = managers[name];
  const files = {
    ...manager.files,
    "package.json": '{ "name": "shop", "private": true }\n',
    "Pulumi.yaml": `name: shop
runtime: nodejs
plugins: { providers: [{ name: endpoints, path: node_modules/pulumi-endpoints/provider/plugin }] }
`,
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

  /** What can serve the resources: the plugin needs a folder, and Plug'n'Play has none. */
  get providers(): string[] {
    return existsSync(join(this.folder, "node_modules")) ? ["dynamic", "plugin"] : ["dynamic"];
  }

  async life(driver: "kit" | "cli", provider: string): Promise<unknown> {
    const command = [...this.node, "life.cjs", driver];
    return JSON.parse(lastLine(await run(this.folder, command, { ENDPOINTS_PROVIDER: provider })));
  }

  /** The number of all names, and those that ES modules cannot import, as `entry: name`. */
  async names(): Promise<{ all: number; missing: string[] }> {
    const output = JSON.parse(lastLine(await run(this.folder, [...this.node, "names.mjs"])));
    const names = Object.entries(
      z.record(z.string(), z.array(z.tuple([z.string(), z.boolean()]))).parse(output),
    ).flatMap(([entry, of]) => of.map(([name, found]) => ({ name: `${entry}: ${name}`, found })));
    return { all: names.length, missing: names.filter(({ found }) => !found).map(({ name }) => name) };
  }
}

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
