import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { projectsOf, projectsOptions } from "../../sdk/commands/projects";
import { stacksCommand } from "../../sdk/commands/stacks";
import { temporaryFolder } from "../folders";
import { runInProcess } from "./runCommand";

/* The projects and stacks of a command, from --stack and --cwd or from a file, and the command `stacks`. */

let root: string;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

/** The entries of a projects file, or a folder. */
type Where = string | { cwd: string };

/** Resolves `--stack`. */
function resolved(where: Where, stack: string[]) {
  if (typeof where === "object") return projectsOf({ cwd: join(root, where.cwd), stack });
  write("stacks.yaml", where);
  return projectsOf({ projects: join(root, "stacks.yaml"), stack });
}

beforeEach(() => {
  root = temporaryFolder();
  for (const name of ["api", "web"]) {
    write(`services/${name}/Pulumi.yaml`, `name: ${name}\nruntime: nodejs\n`);
    for (const stack of ["dev", "prod"]) write(`services/${name}/Pulumi.${stack}.yaml`, "");
  }
  write("services/api/node_modules/x/Pulumi.yaml", "name: x\n");
  write("docs/readme.md", "");
  write("copy/Pulumi.yaml", "name: web\n");
  write("configured/Pulumi.yaml", "name: configured\nstackConfigDir: config\n");
  write("configured/config/Pulumi.eu.yaml", "");
  symlinkSync(join(root, "services/api"), join(root, "linked"));
});

const SERVICES = "projects: [{folder: services/*}]";
const web = (...stacks: string[]) => `projects: [{folder: services/web, stacks: ${JSON.stringify(stacks)}}]`;

test.each<[string, Where, string[], string[]]>([
  ["a glob, and the stacks with settings", SERVICES, [], ["api: dev, prod", "web: dev, prod"]],
  [
    "any folders, and the stacks listed",
    "projects: [{folder: 'services/**', stacks: [prod]}, {folder: services/web, stacks: [eu]}]",
    [],
    ["api: prod", "web: prod", "web: eu"],
  ],
  ["a folder of settings", "projects: [{folder: configured}]", [], ["configured: eu"]],
  ["--stack in every folder", SERVICES, ["prod"], ["api: prod", "web: prod"]],
  ["--stack with a project", SERVICES, ["api/prod", "web/dev"], ["api: prod", "web: dev"]],
  ["the organization of self-managed backends", SERVICES, ["organization/api/dev"], ["api: dev"]],
  ["organizations", web("o/dev", "p/web/dev", "q/eu"), ["p/dev", "eu"], ["web: p/web/dev, q/eu"]],
  ["a folder", { cwd: "services/api" }, [], ["api: "]],
  ["a folder within a project", { cwd: "services/api/node_modules" }, ["api/dev"], ["api: dev"]],
  ["a symbolic link", { cwd: "linked" }, ["organization/api/dev"], ["api: organization/api/dev"]],
])("%s selects stacks", async (_, where, stack, expected) => {
  const { projects } = await resolved(where, stack);
  expect(projects.map(({ name, stacks }) => `${name}: ${stacks.join(", ")}`)).toEqual(expected);
  for (const { folder } of projects) expect(folder).toMatch(/(services\/|\/)(api|web|configured)$/);
});

test("all projects of the file are known, also those that --stack leaves out, with the backends that they name", async () => {
  const list = [{ id: "ep_1", reason: "x" }];
  write("ignore.yaml", JSON.stringify({ projects: [], ignore: list }));
  write("services/web/Pulumi.yaml", "name: web\nbackend: {url: s3://states}\n");
  write("stacks.yaml", `${SERVICES}\nignore: [{url: "https://*", reason: x}]`);
  const projects = join(root, "stacks.yaml");
  const ignore = projectsOptions.ignore.parse(join(root, "ignore.yaml"));
  const { all, ignored } = await projectsOf({ projects, stack: ["api/prod"], ignore });
  expect(all.map(({ name, backend }) => [name, backend])).toEqual([
    ["api", undefined],
    ["web", "s3://states"],
  ]);
  expect(ignored).toEqual([{ url: "https://*", reason: "x" }, ...list]);
  write("list.yaml", JSON.stringify(list));
  expect(projectsOptions.ignore.parse(join(root, "list.yaml"))).toEqual(list);
});

const ignoring = (entry: string) => `${SERVICES}\nignore: [${entry}]`;

test.each<[string, Where, string[], RegExp]>([
  ["a folder that does not exist", { cwd: "nowhere" }, [], /folder that does not exist: .*nowhere$/],
  ["a folder without a project", { cwd: "docs" }, [], /no Pulumi\.yaml in .*docs or above it/],
  ["a stack of another project", { cwd: "linked" }, ["o/web/dev"], /of the project api.*; name the folder/],
  ["a stack twice", { cwd: "services/web" }, ["dev", "o/dev"], /may be one stack; name it once/],
  ["a listed stack of another project", web("o/api/dev"), [], /o\/api\/dev is no stack of the/],
  [
    "a copied project",
    "projects: [{folder: services/web}, {folder: copy, stacks: [o/web/dev]}]",
    [],
    /o\/web\/dev in .*copy may be one stack; name it once/,
  ],
  [
    "a stack that the file does not list",
    SERVICES,
    ["dev", "test"],
    /lists no stack test, but (\w+\/\w+, )+\w+\/\w+/,
  ],
  [
    "an organization that the file does not give",
    SERVICES,
    ["o/web/prod"],
    /lists no stack o\/web\/prod, but/,
  ],
  [
    "a misspelt key in place of a required one",
    "projects: [{foldr: services/*}]",
    [],
    /projects\[0\] has an unknown key, foldr; did you mean folder\? \(/,
  ],
  [
    "a backslash between folders",
    "projects: [{folder: 'services\\*'}]",
    [],
    /no Pulumi project in services\\\*; write \/ between folders/,
  ],
  ["a listed folder without a project", "projects: [{folder: docs}]", [], /no Pulumi project in/],
  ["no settings of a stack", "projects: [{folder: copy}]", [], /no settings .* list the project's/],
  [
    "an ignored endpoint without a reason",
    ignoring("{id: ep_1}"),
    [],
    /ignore\[0\]\.reason is missing, empty/,
  ],
  ["an entry that would ignore everything", ignoring("{reason: x}"), [], /ignore\[0\] needs an id/],
  ["metadata without a key", ignoring("{metadata: {}, reason: x}"), [], /ignore\[0\]\.metadata needs/],
  ["a list in place of a mapping", "[]", [], /stacks\.yaml: its content is missing, empty/],
  ["a tag", "projects: [!CANARY x]", [], /stacks\.yaml has a YAML tag \(line 1, column 12\): [^C]*$/],
  ["text that is no YAML", "projects: [", [], /stacks\.yaml is neither YAML nor JSON \(line 1, co/],
])("%s is an invalid argument", async (_, where, stack, message) => {
  await expect(resolved(where, stack)).rejects.toThrow(message);
});

const stacks = (...args: string[]) => {
  write("stacks.yaml", SERVICES);
  return runInProcess(stacksCommand, ["--projects", join(root, "stacks.yaml"), ...args]);
};

test("`stacks` prints the matrix of a workflow in one line, and a table for people", async () => {
  const { stdout } = await stacks("--json", "-", "--stack", "api/dev");
  const folder = relative(process.cwd(), join(root, "services/api"));
  const include = [{ folder, project: "api", stack: "dev", requestsPerWindow: 120 }];
  expect(stdout).toBe(`${JSON.stringify({ include })}\n`);
  expect((await stacks("--stack", "api/dev")).stdout).toMatch(/^folder .* requests\n\S+ +api +dev +120\n$/);
});

test.each([
  [["--jobs", "3", "--budget", "100"], 33],
  [["--jobs", "100"], 30],
  [["--stack", "prod"], 60],
])("with %j, each job of `stacks` may send %d requests", async (args, share) => {
  const { include } = JSON.parse((await stacks("--json", "-", ...args)).stdout);
  for (const { requestsPerWindow } of include) expect(requestsPerWindow).toBe(share);
});
