import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { adoptCommand } from "../../../sdk/commands/adopt";
import type { Emulator } from "../../../sdk/testing/emulator";
import { emulatedService } from "../../emulatedService";
import { temporaryFolder } from "../../folders";
import { runInProcess } from "../runCommand";
import { movable, SHOWN, seedShown, shownEndpoints } from "./terraformShow";

const SECRET = "whsec_TFSTATE_0123456789";

/** The file with this content, in a folder of its own. */
function fileOf(content: unknown): string {
  const file = join(temporaryFolder(), "state.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The file of a state with endpoints at these addresses. */
function stateOf(...endpoints: { address: string; id?: string | undefined; tainted?: boolean }[]): string {
  const resources = endpoints.map(({ id, ...each }) => ({
    ...{ mode: "managed", type: "ngrok_cloud_endpoint", values: { id } },
    ...each,
  }));
  return fileOf({ format_version: "1.0", values: { root_module: { resources } } });
}

/** Modules within each other, as text, because writing objects recurses. */
const modules = (depth: number): string =>
  `{"format_version":"1.0","values":{"root_module":${'{"child_modules":['.repeat(depth)}${"]}".repeat(depth)}}}`;

const adopt = (emulator: Emulator, file: string, ...args: string[]) =>
  runInProcess(adoptCommand, ["--terraform", file, ...args], emulator);

/** The command in the log, split into words by a shell. */
function forgotten(stderr: string): string[] {
  const [, words = ""] = /\n {2}terraform state rm (.*)/s.exec(stderr) ?? [];
  const loop = `for word in ${words.trimStart()}\ndo printf '%s\\n' "$word"; done`;
  return `${execFileSync("sh", ["-c", loop])}`.trimEnd().split("\n");
}

/** The names of the written resources. */
const namesIn = (stdout: string) =>
  [...stdout.matchAll(/(?:CloudEndpoint\(|"name": )"([^"]*)"/g)].map(([, name]) => name).sort();

test.each(["program", "import"])(
  "takes the endpoints of all modules and no others, named by their addresses (%s)",
  async (format) => {
    const emulator = await emulatedService();
    seedShown(emulator);
    emulator.seed({ type: "cloud", url: "https://other.example.com" });
    const { code, stdout, stderr } = await adopt(emulator, SHOWN, "--format", format);
    expect(code).toBe(0);
    expect(stderr).toContain("Left out: 1 that the Terraform state does not have\n");
    expect(namesIn(stdout)).toEqual([
      ...[
        "landing",
        "pool-0",
        "pool-1",
        "pool-2",
        "site-shop-back-0",
        "site-shop-back-1",
        "site-shop-back-2",
      ],
      ...["site-shop-front-a", "site-shop-front-b"],
    ]);
    expect(stderr).toContain("It must report 9 removed.");
    expect(forgotten(stderr)).toEqual(movable);
    expect(stdout + stderr).not.toContain(SECRET);

    onTestFinished(() => void vi.restoreAllMocks());
    const shown = `\ufeff${readFileSync(SHOWN, "utf8")}`;
    const stdin = Readable.from([shown]);
    vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as typeof process.stdin);
    expect(await adopt(emulator, "-", "--format", format)).toEqual({ code, stdout, stderr });
    // PowerShell's > writes UTF-16.
    const [little, big] = [Buffer.from(shown, "utf16le"), Buffer.from(shown, "utf16le").swap16()];
    for (const bytes of [little, big]) {
      const file = fileOf("");
      writeFileSync(file, bytes);
      expect(await adopt(emulator, file, "--format", format)).toEqual({ code, stdout, stderr });
    }
  },
);

test("leaves out endpoints that Terraform deletes at its next apply, and names the next step", async () => {
  const emulator = await emulatedService();
  seedShown(emulator);
  const { stdout, stderr } = await adopt(emulator, SHOWN);
  const refused = (why: string, address: string, way: string) =>
    `: Terraform has a ${why} object at ${address}, and deletes that at its next apply. Run ${way}, and then this command with the new state\n`;
  const spelled = "ngrok_cloud_endpoint.spelled[0]";
  expect(stderr).toContain(
    `(https://spelled.example.com)${refused("tainted", spelled, `terraform untaint '${spelled}'`)}`,
  );
  for (const host of ["old", "new"])
    expect(stderr).toContain(
      `(https://${host}.example.com)${refused("deposed", "ngrok_cloud_endpoint.moving", "terraform apply")}`,
    );
  for (const { address, values } of shownEndpoints)
    expect(stdout.includes(values.id), address).toBe(movable.includes(address));
});

test("takes addresses in --select and --except, in which case matters", async () => {
  const emulator = await emulatedService();
  seedShown(emulator);
  const cases: [string[], string[]][] = [
    [
      ["--select", 'module.site["shop"].*.back*', "--select", "https://LANDING.*"],
      ["landing", "site-shop-back-0", "site-shop-back-1", "site-shop-back-2"],
    ],
    [
      ["--select=*.pool[*", "--except=ngrok_cloud_endpoint.pool[1]"],
      ["pool-0", "pool-2"],
    ],
  ];
  for (const [args, names] of cases) {
    const { stdout, stderr } = await adopt(emulator, SHOWN, ...args);
    expect(namesIn(stdout)).toEqual(names);
    expect(forgotten(stderr)).toHaveLength(names.length);
  }
  for (const address of ["module.nobody*", 'module.site["SHOP"].*', "NGROK_cloud_endpoint.landing"])
    expect(await adopt(emulator, SHOWN, "--except", address)).toMatchObject({ code: 2, stdout: "" });
});

test("reports endpoints that the account does not have, and fails if it has none of them", async () => {
  const emulator = await emulatedService();
  emulator.seed({ type: "cloud", url: "https://other.example.com" });
  const none = await adopt(emulator, SHOWN);
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr).toContain(
    "--terraform: the account has none of its endpoints. Is it of another account?",
  );
  const [first, ...others] = shownEndpoints;
  seedShown(emulator, others);
  const { code, stderr } = await adopt(emulator, SHOWN);
  expect(code).toBe(0);
  expect(stderr).toContain(
    `Not found: ngrok_cloud_endpoint.landing (${first?.values.id}) is no cloud endpoint of the account. If it was deleted, let Terraform forget it, or the next apply creates it\n`,
  );
  expect(forgotten(stderr)).toEqual(movable.slice(1));
});

test("refuses a file that terraform show -json did not print, before any request, and quotes nothing of the file", async () => {
  const emulator = await emulatedService();
  const next = "In Terraform's folder, run terraform show -json > state.json, and give that file";
  const mistakes: [string, string | RegExp][] = [
    ["/nowhere", "adopt: /nowhere does not exist"],
    [temporaryFolder(), " is a folder"],
    [
      fileOf({ version: 4, terraform_version: "1.11.4", lineage: SECRET, resources: [] }),
      `state.json is a raw state. ${next}`,
    ],
    [
      fileOf({ encrypted_data: SECRET }),
      "state.json is an encrypted state. Where it can be decrypted, run tofu show -json > state.json, and give that file",
    ],
    // Scripts, and the wrapper of setup-terraform on GitHub, do the same.
    ...[
      `${SECRET}\n${JSON.stringify({ format_version: "1.0" }, undefined, 2)}\n`,
      `[command]\n{}\n::debug::0\n`,
    ].map((content): [string, string] => [
      fileOf(content),
      "state.json has other text before or after the JSON. Remove that",
    ]),
    [fileOf({ format_version: "1.2", planned_values: {}, resource_changes: [] }), `is a plan. ${next}`],
    ...[`${SECRET} = 1`, { format_version: "1.0", values: { root_module: { resources: [SECRET] } } }].map(
      (content): [string, string] => [
        fileOf(content),
        `state.json is not what terraform show -json prints of a state. ${next}`,
      ],
    ),
    [fileOf({ format_version: "1.0" }), "state.json has no ngrok_cloud_endpoint"],
    [fileOf(modules(90)), "state.json has no ngrok_cloud_endpoint"],
    [fileOf(modules(100_000)), /has no ngrok_cloud_endpoint|is not what terraform show -json prints/],
  ];
  for (const [file, message] of mistakes) {
    const { code, stdout, stderr } = await adopt(emulator, file);
    expect({ code, stdout }, `${message}`).toEqual({ code: 2, stdout: "" });
    if (typeof message === "string") expect(stderr).toContain(message);
    else expect(stderr).toMatch(message);
    expect(stderr).not.toContain(SECRET);
  }
  expect(emulator.requests).toEqual([]);
});

test("writes every key as Terraform and the shell read it, and takes a key with * as it is", async () => {
  const emulator = await emulatedService();
  const keys = [
    "it's",
    '\\"hi\\"',
    ["$$", "{x} %%{y} $5"].join(""),
    "a\\\\b",
    "*.example.com",
    "ü",
    "two  blanks",
  ];
  const endpoints = keys.map((key, i) => ({
    address: `ngrok_cloud_endpoint.front["${key}"]`,
    id: emulator.seed({ type: "cloud", url: `https://n${i}.example.com` }).id,
  }));
  const file = stateOf(...endpoints);
  const { stdout, stderr } = await adopt(emulator, file);
  expect(forgotten(stderr)).toEqual(endpoints.map(({ address }) => address));
  expect(namesIn(stdout)).toEqual([
    ...["front", "front-a-b", "front-hi", "front-it-s", "front-two-blanks"],
    ...["front-wildcard-example-com", "front-x-y-5"],
  ]);
  const one = await adopt(emulator, file, "--select", 'ngrok_cloud_endpoint.front["*.example.com"]');
  expect(namesIn(one.stdout)).toEqual(["front-wildcard-example-com"]);
});

test("leaves out an endpoint with a key that no command can show", async () => {
  const emulator = await emulatedService();
  const keys = ["two\nlines", "\b", "\u202ex", "\u{e0001}", "\u001b[31m", "##vso[task]", "plain"];
  const endpoints = keys.map((key, nth) => ({
    address: `ngrok_cloud_endpoint.a["${key}"]`,
    id: emulator.seed({ type: "cloud", url: `https://n${nth}.example.com` }).id,
  }));
  const { code, stdout, stderr } = await adopt(emulator, stateOf(...endpoints));
  expect(code).toBe(0);
  for (const [nth, { id }] of endpoints.slice(0, -1).entries())
    expect(stderr).toContain(
      `Left out: ${id} (https://n${nth}.example.com): its address in Terraform has characters that no command can show. Adopt it by its id, without --terraform\n`,
    );
  expect(forgotten(stderr)).toEqual(['ngrok_cloud_endpoint.a["plain"]']);
  expect(stdout + stderr).not.toMatch(/(?!\n)\p{C}|##vso\[/u);
});

test("names an endpoint with two addresses by the first, and forgets both", async () => {
  const emulator = await emulatedService();
  const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com" });
  const addresses = ["ngrok_cloud_endpoint.a", "ngrok_cloud_endpoint.b"];
  const { stdout, stderr } = await adopt(emulator, stateOf(...addresses.map((address) => ({ address, id }))));
  expect(namesIn(stdout)).toEqual(["a"]);
  expect(stderr).toContain("It must report 2 removed.");
  expect(forgotten(stderr)).toEqual(addresses);
});
