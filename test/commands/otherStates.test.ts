import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { driftWith } from "../../sdk/commands/drift";
import { type Backend, backendsOf, withoutStacks } from "../../sdk/commands/otherStates";
import { temporaryFolder } from "../folders";
import { emulator, fakeStack } from "./drift/stacks";
import { pathWithPulumi, runInProcess } from "./runCommand";

/* Which other stacks there are, and when `drift` reads their states. */

test("folders with one backend are listed once, and a relative backend is that of its folder", async () => {
  const root = temporaryFolder();
  const project = (name: string, backend?: string) => {
    mkdirSync(join(root, name));
    return { folder: join(root, name), name, backend };
  };
  const calls = join(root, "calls");
  const script = [
    `echo "$*" >> ${calls}`,
    'case "$PWD $1" in',
    `*relative*" whoami") echo '{"url":"file://./state"}' ;;`,
    `*" whoami") echo '{"url":"s3://states"}' ;;`,
    `*) echo "[{\\"name\\":\\"organization/x/$(basename $PWD)\\"}]" ;;`,
    "esac",
  ];
  vi.stubEnv("PATH", pathWithPulumi(script.join("\n")));
  const backends = await backendsOf([
    project("api"),
    project("web"),
    project("explicit", "s3://states"),
    project("relative", "file://./state"),
    project("relative-2", "file://./state "),
  ]);
  vi.unstubAllEnvs();
  const at = (name: string) => join(root, name);
  expect(backends).toEqual([
    {
      url: "s3://states",
      folders: [at("api"), at("web"), at("explicit")],
      stacks: ["organization/x/api"],
    },
    ...["relative", "relative-2"].map((name) => ({
      url: `file://${at(`${name}/state`)}`,
      folders: [at(name)],
      stacks: [`organization/x/${name}`],
    })),
  ]);
});

const backend = (...stacks: string[]): Backend => ({ url: "file:///x", folders: ["/"], stacks });

test.each<[name: string, stacks: string[], left: string[]]>([
  ["dev", ["organization/api/dev", "organization/web/dev"], ["organization/web/dev"]],
  ["api/dev", ["organization/api/dev", "organization/api-2/dev"], ["organization/api-2/dev"]],
  ["acme/api/dev", ["acme/api/dev", "other/api/dev"], ["other/api/dev"]],
  // Pulumi says which of the two it takes.
  ["api/dev", ["acme/api/dev", "other/api/dev"], ["acme/api/dev"]],
  ["api/dev", ["organization/web/dev"], ["organization/web/dev"]],
])("the stack %s of the project api is not another stack among %j", async (name, stacks, left) => {
  vi.stubEnv(
    "PATH",
    pathWithPulumi('[ "$*" = "stack --show-name -Q --stack dev --non-interactive" ] && echo other/api/dev'),
  );
  const checked = [{ name, project: "api", folder: "/" }];
  expect(await withoutStacks([backend(...stacks)], checked)).toEqual([backend(...left)]);
  const elsewhere = [{ name, project: "api", folder: "/another" }];
  expect(await withoutStacks([backend(...stacks)], elsewhere)).toEqual([backend(...stacks)]);
  vi.unstubAllEnvs();
});

test.each<[string, number, string[], Parameters<typeof fakeStack>, isRead: boolean]>([
  ["50 other stacks", 50, [], [[{ name: "a" }]], true],
  ["51 other stacks", 51, [], [[{ name: "a" }]], false],
  ["50, and every endpoint of the account", 50, [], [[{ name: "other" }]], true],
  ["51, and every endpoint of the account", 51, [], [[{ name: "other" }]], false],
  ["51, and --fail-on-unmanaged", 51, ["--fail-on-unmanaged"], [[{ name: "a" }]], true],
  ["51, and a lost state", 51, [], [[]], true],
])(
  "drift reads the states of other stacks where something depends on them: %s",
  async (_, others, args, stack, isRead) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");
    const isFree = !stack[0].some(({ name }) => name === "other");
    if (isFree) emulator.seed({ type: "cloud", id: "ep_other", url: "https://other.example.com" });
    const checked = fakeStack(...stack);
    const stacks = Array.from({ length: others }, (_, index) => `organization/web/s${index}`);
    let read = 0;
    const command = driftWith({
      open: async () => [checked],
      backendsOf: async () => [
        { url: "file:///x", folders: [""], stacks: ["organization/shop/prod", ...stacks] },
      ],
      async readStates(backends) {
        read += backends.flatMap((one) => one.stacks).length;
        return { stacks: [], unread: [] };
      },
    });
    const { code, stdout } = await runInProcess(command, ["--cwd", folder, "--stack", "prod", ...args]);
    expect([code, read]).toEqual([args.length > 0 ? 7 : 0, isRead ? others : 0]);
    expect(stdout.includes("unmanaged https://other.example.com")).toBe(isRead && isFree);
    const hint =
      "Other stacks: 51 not read, so one of them may have these endpoints, too; --fail-on-unmanaged reads them";
    expect(stdout.includes(hint)).toBe(!isRead);
  },
);
