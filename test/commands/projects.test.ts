import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { ignoredIn, projectsOf } from "../../sdk/commands/projects";
import { temporaryFolder } from "../folders";

let root: string;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return join(root, path);
};
const resolved = (given: Parameters<typeof projectsOf>[0]) => projectsOf(given);
const stacksOf = async (given: Parameters<typeof resolved>[0]) =>
  (await resolved(given)).projects.map(({ folder, name, stacks }) => [
    folder.slice(root.length),
    name,
    stacks,
  ]);

beforeEach(() => {
  root = temporaryFolder();
  for (const name of ["api", "web"]) {
    write(`services/${name}/Pulumi.yaml`, `name: ${name}\nruntime: nodejs\n`);
    for (const stack of ["dev", "prod"]) write(`services/${name}/Pulumi.${stack}.yaml`, "");
  }
  write("services/api/node_modules/x/Pulumi.yaml", "name: x\n");
  write("docs/readme.md", "");
  for (const name of ["a", "b"]) {
    write(`copies/${name}/Pulumi.yaml`, "name: shop\n");
    write(`copies/${name}/Pulumi.dev.yaml`, "");
  }
});

test("a file lists projects by globs, and a project's stacks default to those with settings", async () => {
  const file = write("stacks.yaml", "projects:\n  - folder: services/*\n");
  const both = ["dev", "prod"];
  expect(await stacksOf({ projects: file })).toEqual([
    ["/services/api", "api", both],
    ["/services/web", "web", both],
  ]);
  write(
    "stacks.yaml",
    "projects: [{folder: 'services/**', stacks: [prod]}, {folder: services/web, stacks: [eu]}]\nknown: [o/x/y]",
  );
  expect(await stacksOf({ projects: file })).toEqual([
    ["/services/api", "api", ["prod"]],
    ["/services/web", "web", ["prod", "eu"]],
  ]);
  expect((await resolved({ projects: file, known: ["o/a/b"] })).known).toEqual(["o/a/b", "o/x/y"]);
});

test("a stack that is listed under two names is compared once", async () => {
  const names = '["prod", "organization/prod", "organization/api/prod", "api/prod"]';
  const projects = write("stacks.yaml", `projects: [{folder: services/api, stacks: ${names}}]`);
  expect(await stacksOf({ projects })).toEqual([["/services/api", "api", ["prod"]]]);
  const cwd = [join(root, "services/api"), join(root, "services/api/.")];
  expect(await stacksOf({ cwd, stack: ["dev", "organization/api/dev"] })).toEqual([
    ["/services/api", "api", ["dev"]],
  ]);
  symlinkSync(join(root, "services/api"), join(root, "services/linked"));
  write("stacks.yaml", "projects: [{folder: services/*}]");
  expect((await stacksOf({ projects })).map(([folder]) => folder)).toEqual([
    "/services/api",
    "/services/web",
  ]);
});

test("--stack takes some of a file's stacks, by short or full name", async () => {
  const projects = write("stacks.yaml", "projects: [{folder: services/*}]");
  expect(await stacksOf({ projects, stack: ["prod"] })).toEqual([
    ["/services/api", "api", ["prod"]],
    ["/services/web", "web", ["prod"]],
  ]);
  expect(await stacksOf({ projects, stack: ["organization/web/dev"] })).toEqual([
    ["/services/web", "web", ["dev"]],
  ]);
  expect(await stacksOf({ projects, stack: ["api/prod"] })).toEqual([["/services/api", "api", ["prod"]]]);
  for (const stack of ["test", "acme/prod", "organization/lost/prod"])
    await expect(resolved({ projects, stack: [stack] })).rejects.toThrow(`lists no stack ${stack}`);
});

test("a full name selects the folder of its project, and a short one is a stack of every folder", async () => {
  const cwd = [join(root, "services/api"), join(root, "services/web")];
  expect(await stacksOf({ cwd, stack: ["organization/web/dev", "prod"] })).toEqual([
    ["/services/api", "api", ["prod"]],
    ["/services/web", "web", ["organization/web/dev", "prod"]],
  ]);
  expect(await stacksOf({ cwd, stack: ["web/dev", "acme/prod"] })).toEqual([
    ["/services/api", "api", ["acme/prod"]],
    ["/services/web", "web", ["dev", "acme/prod"]],
  ]);
  expect(await stacksOf({ cwd })).toEqual([
    ["/services/api", "api", []],
    ["/services/web", "web", []],
  ]);
});

test.each([
  ["a folder that does not exist", { cwd: ["nowhere"] }, /does not exist: nowhere/],
  ["a file that does not exist", { projects: "nowhere.yaml" }, /^nowhere\.yaml does not exist$/],
])("%s is an invalid argument", async (_, given, message) => {
  await expect(resolved(given)).rejects.toThrow(message);
});

test("the stack of a project that no folder has is refused before Pulumi runs", async () => {
  await expect(
    resolved({ cwd: [join(root, "services/web")], stack: ["organization/api/dev"] }),
  ).rejects.toThrow(
    /stack of the project api, and the folder given is that of web; give the project's folder/,
  );
  const cwd = [join(root, "services/api"), join(root, "services/web")];
  await expect(resolved({ cwd, stack: ["organization/api/dev"] })).rejects.toThrow(
    /no --stack is of the project web/,
  );
});

test.each([
  [
    "an unknown key",
    "projects: [{folder: services/*, stack: [dev]}]",
    /projects\[0\] has an unknown key, stack; did you mean stacks\? \(/,
  ],
  [
    "a misspelt key in place of a required one",
    "projects: [{foldr: services/*}]",
    /projects\[0\] has an unknown key, foldr; did you mean folder\? \(/,
  ],
  ["a folder without a project", "projects: [{folder: docs}]", /no Pulumi project in docs/],
  [
    "an entry without a reason",
    "projects: [{folder: services/api}]\nignore: [{id: ep_1}]",
    /ignore\[0\]\.reason is missing, empty or of another kind/,
  ],
  [
    "an entry that would ignore everything",
    "projects: [{folder: services/api}]\nignore: [{reason: x}]",
    /ignore\[0\] needs an id/,
  ],
  [
    "a copied project",
    "projects: [{folder: 'copies/*'}]",
    /copies\/a and .*copies\/b are both of the project shop, and have stacks in common/,
  ],
  [
    "a stack of another project",
    "projects: [{folder: services/api, stacks: [organization/web/dev]}]",
    /organization\/web\/dev is no stack of the project api/,
  ],
  [
    "a mark without a part",
    "projects: [{folder: services/api}]\nignore: [{mark: {}, reason: x}]",
    /ignore\[0\]\.mark needs/,
  ],
  [
    "metadata without a key",
    "projects: [{folder: services/api}]\nignore: [{metadata: {}, reason: x}]",
    /ignore\[0\]\.metadata needs/,
  ],
  ["no list", "projects: services", /stacks\.yaml: projects is missing, empty or of another kind/],
  ["an empty list", "projects: []", /stacks\.yaml: projects is missing, empty or of another kind/],
  ["a list in place of a mapping", "[]", /stacks\.yaml: its content is missing, empty or of another kind/],
  ["text that is no YAML", "projects: [", /stacks\.yaml is neither YAML nor JSON \(line 1, column \d+\)$/],
])("a file with %s is refused with the place", async (_, text, message) => {
  await expect(resolved({ projects: write("stacks.yaml", text) })).rejects.toThrow(message);
});

test("a project without settings of a stack needs a list of its stacks", async () => {
  write("bare/Pulumi.yaml", "name: bare\n");
  const projects = write("stacks.yaml", "projects: [{folder: bare}]");
  await expect(resolved({ projects })).rejects.toThrow(/no settings of a stack .* list the stacks of/);
  write("bare/Pulumi.yaml", "name: bare\nstackConfigDir: config\n");
  await expect(resolved({ projects })).rejects.toThrow(
    /Pulumi\.yaml: stackConfigDir names a folder that does not exist: .*config$/,
  );
  write("bare/config/Pulumi.eu.yaml", "");
  expect(await stacksOf({ projects })).toEqual([["/bare", "bare", ["eu"]]]);
});

test("endpoints to ignore may be in a file of their own, as YAML or JSON", () => {
  const ignored = [{ url: "https://status.*", reason: "the vendor's" }];
  expect(ignoredIn(write("ignore.json", JSON.stringify(ignored)))).toEqual(ignored);
  expect(ignoredIn(write("ignore.yaml", "- url: https://status.*\n  reason: the vendor's\n"))).toEqual(
    ignored,
  );
  const projects = write(
    "stacks.yaml",
    `projects: [{folder: services/*}]\nignore: ${JSON.stringify(ignored)}`,
  );
  expect(ignoredIn(projects)).toEqual(ignored);
});
