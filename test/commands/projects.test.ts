import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { projectsOf, projectsOptions } from "../../sdk/commands/projects";
import { temporaryFolder } from "../folders";

let root: string;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

/** Resolves `--stack` with the text of a projects file, or with a folder. */
function resolved(where: { file: string } | { cwd: string }, stack: string[]) {
  if ("cwd" in where) return projectsOf({ cwd: join(root, where.cwd), stack });
  write("stacks.yaml", where.file);
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
  for (const name of ["a", "b"]) write(`copies/${name}/Pulumi.yaml`, "name: shop\n");
  write("bare/Pulumi.yaml", "name: bare\n");
  write("configured/Pulumi.yaml", "name: configured\nstackConfigDir: config\n");
  write("configured/config/Pulumi.eu.yaml", "");
  symlinkSync(join(root, "services/api"), join(root, "linked"));
});

const SERVICES = { file: "projects: [{folder: services/*}]" };

test.each<[string, { file: string } | { cwd: string }, string[], string[]]>([
  ["a glob, and the stacks with settings", SERVICES, [], ["api: dev, prod", "web: dev, prod"]],
  [
    "any folders, and the stacks listed",
    { file: "projects: [{folder: 'services/**', stacks: [prod]}, {folder: services/web, stacks: [eu]}]" },
    [],
    ["api: prod", "web: prod", "web: eu"],
  ],
  ["a folder of settings", { file: "projects: [{folder: configured}]" }, [], ["configured: eu"]],
  [
    "a stack under two names",
    { file: "projects: [{folder: services/api, stacks: [prod, api/prod]}]" },
    [],
    ["api: prod"],
  ],
  ["--stack in every folder", SERVICES, ["prod"], ["api: prod", "web: prod"]],
  ["--stack with an organization", SERVICES, ["organization/web/dev"], ["web: dev"]],
  ["--stack with a project", SERVICES, ["api/prod", "web/dev"], ["api: prod", "web: dev"]],
  ["a folder", { cwd: "services/api" }, [], ["api: "]],
  ["a folder within a project", { cwd: "services/api/node_modules" }, ["dev"], ["api: dev"]],
  ["a symbolic link", { cwd: "linked" }, ["organization/api/dev"], ["api: organization/api/dev"]],
  ["a stack with an organization alone", { cwd: "services/api" }, ["acme/dev"], ["api: acme/dev"]],
  ["a stack with its project", { cwd: "services/api" }, ["api/dev"], ["api: dev"]],
])("%s selects stacks", async (_, where, stack, expected) => {
  const { projects } = await resolved(where, stack);
  expect(projects.map(({ name, stacks }) => `${name}: ${stacks.join(", ")}`)).toEqual(expected);
  for (const { folder } of projects) expect(folder).toMatch(/(services\/|\/)(api|web|configured)$/);
});

test("the stacks of the file that --stack leaves out, and those that it lists as known, are known", async () => {
  const file = `projects: [{folder: services/*}]\nknown: [o/x/y]\nignore: [{id: ep_1, reason: x}]`;
  const { known, ignored } = await resolved({ file }, ["prod"]);
  expect(known.map(({ folder, stack }) => [folder.slice(root.length), stack])).toEqual([
    ["/services/api", "o/x/y"],
    ["/services/api", "dev"],
    ["/services/web", "dev"],
  ]);
  expect(ignored).toEqual([{ id: "ep_1", reason: "x" }]);
});

test("the options name further known stacks, and a file of ignored endpoints: a list, or one with ignore:", async () => {
  const list = [{ url: "https://status.*", reason: "the vendor's" }];
  for (const text of [list, { projects: [], ignore: list }]) {
    write("ignore.yaml", JSON.stringify(text));
    const ignore = projectsOptions.ignore.parse(join(root, "ignore.yaml"));
    const { known, ignored } = await projectsOf({
      cwd: join(root, "services/api"),
      known: ["o/x/y"],
      ignore,
    });
    expect(known).toMatchObject([{ stack: "o/x/y" }]);
    expect(ignored).toEqual(list);
  }
});

const ignoring = (entry: string) => ({ file: `projects: [{folder: services/api}]\nignore: [${entry}]` });

test.each<[string, { file: string } | { cwd: string }, string[], RegExp]>([
  ["a folder that does not exist", { cwd: "nowhere" }, [], /folder that does not exist: .*nowhere$/],
  ["a folder without a project", { cwd: "docs" }, [], /no Pulumi\.yaml in .*docs or above it/],
  [
    "a stack of another project",
    { cwd: "services/web" },
    ["organization/api/dev"],
    /organization\/api\/dev is no stack of the project web, which is in .*services\/web; name the folder/,
  ],
  [
    "a stack with and without its organization",
    { cwd: "services/api" },
    ["dev", "organization/api/dev"],
    /a stack dev of the project api is named twice, with and without its organization/,
  ],
  ["a stack that the file does not list", SERVICES, ["test"], /lists no stack test$/],
  ["another organization's stack", SERVICES, ["acme/prod"], /lists no stack acme\/prod$/],
  ["another project's stack", SERVICES, ["o/lost/prod"], /lists no stack o\/lost\/prod$/],
  [
    "an unknown key",
    { file: "projects: [{folder: services/*, stack: [dev]}]" },
    [],
    /projects\[0\] has an unknown key, stack; did you mean stacks\? \(/,
  ],
  [
    "a misspelt key in place of a required one",
    { file: "projects: [{foldr: services/*}]" },
    [],
    /projects\[0\] has an unknown key, foldr; did you mean folder\? \(/,
  ],
  ["a listed folder without a project", { file: "projects: [{folder: docs}]" }, [], /no Pulumi project in/],
  ["no settings of a stack", { file: "projects: [{folder: bare}]" }, [], /no settings .* list the project's/],
  [
    "an ignored endpoint without a reason",
    ignoring("{id: ep_1}"),
    [],
    /ignore\[0\]\.reason is missing, empty/,
  ],
  ["an entry that would ignore everything", ignoring("{reason: x}"), [], /ignore\[0\] needs an id/],
  ["a mark without a part", ignoring("{mark: {}, reason: x}"), [], /ignore\[0\]\.mark needs/],
  ["metadata without a key", ignoring("{metadata: {}, reason: x}"), [], /ignore\[0\]\.metadata needs/],
  [
    "a copied project",
    { file: "projects: [{folder: 'copies/*', stacks: [dev]}]" },
    [],
    /copies\/a and .*copies\/b are both of the project shop, and have stacks in common/,
  ],
  [
    "a folder that is listed twice",
    { file: "projects: [{folder: services/*}, {folder: services/web, stacks: [organization/web/dev]}]" },
    [],
    /are both of the project web, and have stacks in common/,
  ],
  [
    "a listed stack of another project",
    { file: "projects: [{folder: services/api, stacks: [organization/web/dev]}]" },
    [],
    /organization\/web\/dev is no stack of the project api/,
  ],
  [
    "no list",
    { file: "projects: services" },
    [],
    /stacks\.yaml: projects is missing, empty or of another kind/,
  ],
  ["an empty list", { file: "projects: []" }, [], /stacks\.yaml: projects is missing, empty/],
  ["a list in place of a mapping", { file: "[]" }, [], /stacks\.yaml: its content is missing, empty/],
  ["text that is no YAML", { file: "projects: [" }, [], /stacks\.yaml is neither YAML nor JSON \(line 1, co/],
])("%s is an invalid argument", async (_, where, stack, message) => {
  await expect(resolved(where, stack)).rejects.toThrow(message);
});
