import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { adoptCommand } from "../../../../sdk/commands/adopt";
import { TerraformState } from "../../../../sdk/commands/adopt/terraform";
import { importFileCommand } from "../../../../sdk/commands/importFile";
import { namesOf } from "../../../../sdk/commands/selection";
import type { Emulator } from "../../../../sdk/testing/emulator";
import { temporaryFolder } from "../../../folders";
import { service } from "../../../provider/plugin/pulumi";
import { runInProcess } from "../runCommand";
import { seedState, terraformState } from "./terraformState";

const commands = { adopt: adoptCommand, "import-file": importFileCommand };
const SECRET = "whsec_TFSTATE_0123456789";

/** The file with this content, in a folder of its own. */
function fileOf(content: unknown): string {
  const file = join(temporaryFolder(), "terraform.tfstate");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The file of a state with these resources. Default: endpoints named `front`. */
const stateOf = (...resources: object[]): string =>
  fileOf({
    version: 4,
    resources: resources.map((one) => ({
      ...{ mode: "managed", type: "ngrok_cloud_endpoint", name: "front" },
      ...one,
    })),
  });

const keyed = (key: string): string => `ngrok_cloud_endpoint.front["${key}"]`;

/** The output of `terraform show -json` with modules within each other, as text, because writing objects recurses. */
const modules = (depth: number): string =>
  `{"format_version":"1.0","values":{"root_module":${'{"child_modules":['.repeat(depth)}${"]}".repeat(depth)}}}`;

/** The words of the command that the log shows, as a shell reads them. */
function forgotten(stderr: string): string[] {
  const [, words = ""] = /\n {2}terraform state rm (.*)/s.exec(stderr) ?? [];
  const read = execFileSync("sh", [
    "-c",
    `for word in ${words.trimStart()}\ndo printf '%s\\n' "$word"; done`,
  ]);
  return `${read}`.trimEnd().split("\n");
}

const written = z.array(z.object({ name: z.string(), id: z.string() }));

/** The name and the id of each written resource. */
function resourcesIn(stdout: string): Record<string, string> {
  const resources = stdout.startsWith("{")
    ? written.parse(JSON.parse(stdout).resources)
    : [...stdout.matchAll(/new CloudEndpoint\("([^"]*)".*?adopt: "(\w+)"/gs)].map(
        ([, name = "", id = ""]) => ({ name, id }),
      );
  return Object.fromEntries(resources.map(({ name, id }) => [name, id]));
}

describe.each(Object.entries(commands))("%s --terraform", (_, command) => {
  const run = (emulator: Emulator, ...args: string[]) => runInProcess(command, args, emulator);

  test("takes the endpoints of a state and no others, and names them by their addresses", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("big-1.11.tfstate");
    seedState(emulator, objects);
    for (let i = 0; i < 20; i++) emulator.seed({ type: "cloud", url: `https://other-${i}.example.com` });
    const { code, stdout, stderr } = await run(emulator, "--terraform", file);
    expect(code).toBe(0);
    expect(stderr).toContain("The account has 71 cloud endpoints.\n");
    expect(stderr).toContain("Left out: 20 that the Terraform state does not have\n");
    expect(stderr).toContain("Selected: 50 endpoints");
    const resources = resourcesIn(stdout);
    const idOf = (address: string) => objects.find((one) => one.address === address)?.id;
    expect(resources).toMatchObject({
      landing: idOf("ngrok_cloud_endpoint.landing"),
      "pool-0": idOf("ngrok_cloud_endpoint.pool[0]"),
      "pool-1": idOf("ngrok_cloud_endpoint.pool[1]"),
      "pool-2": idOf("ngrok_cloud_endpoint.pool[2]"),
      "site-shop-front-www": idOf('module.site["shop"].ngrok_cloud_endpoint.front["www"]'),
      "site-docs-api-back-0": idOf('module.site["docs.api"].ngrok_cloud_endpoint.back[0]'),
    });
    expect(Object.keys(resources)).toHaveLength(50);
    const addresses = objects.flatMap(({ address, status }) => (status === "tainted" ? [] : [address]));
    expect(forgotten(stderr)).toEqual(addresses);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  test("reads a state file, the output of `terraform show -json` of a state and of a plan, and stdin alike", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    seedState(emulator, objects);
    const result = await run(emulator, "--terraform", file);
    expect(Object.keys(resourcesIn(result.stdout))).toHaveLength(9);

    const shown = terraformState("small-1.5.shown").file;
    expect(await run(emulator, "--terraform", shown)).toEqual(result);
    const { values, ...head } = JSON.parse(readFileSync(shown, "utf8"));
    const plan = fileOf({ ...head, planned_values: {}, prior_state: { ...head, values } });
    expect(await run(emulator, "--terraform", plan)).toEqual(result);
    onTestFinished(() => void vi.restoreAllMocks());
    const stdin = Readable.from(["\ufeff", readFileSync(file, "utf8")]);
    vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as typeof process.stdin);
    expect(await run(emulator, "--terraform", "-")).toEqual(result);
  });

  test("refuses tainted and deposed objects with the reason and the next step", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    seedState(emulator, objects);
    const { stdout, stderr } = await run(emulator, "--terraform", file);
    const tainted = objects.find(({ status }) => status === "tainted");
    const deposed = objects.find((one) => one.deposed !== undefined);
    expect(stderr).toContain(
      `Left out: ${tainted?.id} (https://spelled.example.com): ngrok_cloud_endpoint.spelled[0] is tainted, so Terraform would delete it at its next apply. Run terraform untaint 'ngrok_cloud_endpoint.spelled[0]', and then this command with the new state\n`,
    );
    expect(stderr).toContain(
      `Left out: ${deposed?.id} (https://old.example.com): it is a deposed object of ngrok_cloud_endpoint.moving, so Terraform would delete it at its next apply.`,
    );
    const current = objects.find((one) => one.deposed === undefined && /moving/.test(one.address));
    expect(stderr).toContain(
      `Left out: ${current?.id} (https://new.example.com): ngrok_cloud_endpoint.moving also has a deposed object, which terraform state rm would leave behind. Run terraform apply first, which deletes that, and then this command with the new state\n`,
    );
    for (const id of [tainted?.id, deposed?.id, current?.id]) expect(stdout).not.toContain(id);
    expect(stdout.split(String(objects[0]?.id))).toHaveLength(2);
    expect(forgotten(stderr).filter((address) => /moving|landing/.test(address))).toEqual([
      "ngrok_cloud_endpoint.landing",
    ]);
    expect(stderr).toContain("It must report 9 removed.");
  });

  test("lists the resources that stay in Terraform, with their references to and from endpoints", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    seedState(emulator, objects);
    const lines = async (state: string) =>
      (await run(emulator, "--terraform", state)).stderr.split("\n").filter((line) => /^Stays/.test(line));
    const expected = [
      "Stays in Terraform: data.ngrok_cloud_endpoint.landing, which refers to ngrok_cloud_endpoint.landing. Replace that reference before you remove the block",
      "Stays in Terraform: ngrok_domain.shop, to which ngrok_cloud_endpoint.landing refers",
      "Stays in Terraform: terraform_data.dns, which refers to ngrok_cloud_endpoint.landing. Replace that reference before you remove the block",
      "Stays in Terraform: output.landing, which refers to ngrok_cloud_endpoint.landing. Replace that reference before you remove the block",
      "Stays in Terraform, without a reference: terraform_data.unrelated",
    ];
    expect(await lines(file)).toEqual(expected);
    expect(await lines(terraformState("small-1.5.shown").file)).toEqual(expected);

    // Values show a reference, too: a text in the program instead of an expression.
    const state = JSON.parse(readFileSync(file, "utf8"));
    for (const { instances } of state.resources) for (const one of instances) delete one.dependencies;
    const domain = state.resources.find(({ type }: { type: string }) => type === "ngrok_domain");
    const landing = objects.find(({ address }) => address === "ngrok_cloud_endpoint.landing");
    domain.instances[0].attributes.id = landing?.attributes["domain_id"];
    expect(await lines(fileOf(state))).toEqual(expected);
  });

  test("takes addresses in --select and --except", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("big-1.11.tfstate");
    seedState(emulator, objects);
    let warning: string | undefined;
    const names = async (...args: string[]) => {
      const { stdout, stderr } = await run(emulator, "--terraform", file, ...args);
      expect(forgotten(stderr)).toHaveLength(Object.keys(resourcesIn(stdout)).length);
      expect(stderr.match(/^Only a part .*$/m)?.[0]).toBe(warning);
      return Object.keys(resourcesIn(stdout)).sort();
    };
    expect(await names("--select", 'module.site["blog"].*.back*', "--select", "https://LANDING.*")).toEqual([
      ...["landing", "site-blog-back-0", "site-blog-back-1", "site-blog-back-2"],
    ]);
    warning =
      "Only a part moves of ngrok_cloud_endpoint.pool[*]. Of a count, move all: a smaller count would delete the instance with the last number";
    expect(
      await names(
        "--select=*.pool[*",
        "--except=ngrok_cloud_endpoint.pool[1]",
        "--except",
        "https://landing.*",
      ),
    ).toEqual(["pool-0", "pool-2"]);
    for (const address of ["module.nobody*", 'module.site["BLOG"].*', "NGROK_cloud_endpoint.landing"]) {
      const wrong = await run(emulator, "--terraform", file, "--except", address);
      expect(wrong).toMatchObject({ code: 2, stdout: "" });
    }
  });

  test("reports endpoints that the account does not have, and fails if it has none of them", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    const [first, ...others] = objects;
    emulator.seed({ type: "cloud", url: "https://other.example.com" });
    const none = await run(emulator, "--terraform", file);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain(
      `the account has no endpoint of ${file}: is that the state of another account?`,
    );
    seedState(emulator, others);
    const again = emulator.seed({ type: "cloud", url: "https://landing.example.com" });
    const { code, stderr } = await run(emulator, "--terraform", file);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `Not found: ngrok_cloud_endpoint.landing (${first?.id}) is no cloud endpoint of the account. It was deleted, or is another account's. ${again.id} has its URL. If it was deleted, take it out of the state, too, or the next apply creates it: terraform state rm ngrok_cloud_endpoint.landing\n`,
    );
    expect(forgotten(stderr)).not.toContain("ngrok_cloud_endpoint.landing");
  });

  test("refuses what is no state before any request, and quotes none of it", async () => {
    const emulator = await service();
    const { file } = terraformState("small-1.5.tfstate");
    const state = JSON.parse(readFileSync(file, "utf8"));
    const none = state.resources.filter(
      ({ mode, type }: { mode: string; type: string }) => mode === "data" || type === "ngrok_domain",
    );
    const mistakes: [string[], string][] = [
      [["/nowhere"], "--terraform: /nowhere cannot be read (ENOENT)"],
      [[fileOf(`${SECRET} = 1`)], "is not JSON"],
      [[fileOf({ ...state, version: 3 })], "is no Terraform state of format 4, nor the output of"],
      [[fileOf({ encrypted_data: SECRET })], "is no Terraform state of format 4"],
      [[fileOf({ ...state, resources: [SECRET] })], "is no Terraform state of format 4"],
      [[fileOf({ ...state, resources: none })], "has no ngrok_cloud_endpoint"],
      [[fileOf({ format_version: "1.0" })], "has no ngrok_cloud_endpoint"],
      [[fileOf(modules(90))], "has no ngrok_cloud_endpoint"],
      [[fileOf(modules(3_000))], "has more than 200 levels of nesting"],
      [[fileOf(modules(100_000))], "has more than 200 levels of nesting"],
      [
        [fileOf({ format_version: "1.0", resource_changes: [{}, { previous_address: "a.b" }] })],
        "is a plan that moves resources to other addresses: apply it first, or give the state",
      ],
    ];
    for (const [args, message] of mistakes) {
      const { code, stdout, stderr } = await run(emulator, "--terraform", ...args);
      expect({ code, stdout }, message).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(SECRET);
    }
    expect(emulator.requests).toEqual([]);
  });

  test("writes every key as Terraform and the shell read it", async () => {
    const emulator = await service();
    const keys = [
      "it's",
      'say "hi"',
      ["$", "{x} %{y} $5"].join(""),
      "a\\b",
      "*.example.com",
      "ü",
      "two  blanks",
    ];
    const endpoints = keys.map((_, i) => emulator.seed({ type: "cloud", url: `https://n${i}.example.com` }));
    const instances = keys.map((index_key, i) => ({ index_key, attributes: { id: endpoints[i]?.id } }));
    const state = stateOf({ instances });
    const { stdout, stderr } = await run(emulator, "--terraform", state);
    expect(forgotten(stderr)).toEqual([
      'ngrok_cloud_endpoint.front["it\'s"]',
      'ngrok_cloud_endpoint.front["say \\"hi\\""]',
      ['ngrok_cloud_endpoint.front["$$', '{x} %%{y} $5"]'].join(""),
      'ngrok_cloud_endpoint.front["a\\\\b"]',
      'ngrok_cloud_endpoint.front["*.example.com"]',
      'ngrok_cloud_endpoint.front["ü"]',
      'ngrok_cloud_endpoint.front["two  blanks"]',
    ]);
    expect(Object.keys(resourcesIn(stdout)).sort()).toEqual([
      ...["front", "front-a-b", "front-it-s", "front-say-hi", "front-two-blanks"],
      ...["front-wildcard-example-com", "front-x-y-5"],
    ]);

    const one = await run(emulator, "--terraform", state, "--select", keyed("*.example.com"));
    expect(Object.keys(resourcesIn(one.stdout))).toEqual(["front-wildcard-example-com"]);
    const tainted = instances.map((instance) => ({ ...instance, status: "tainted" }));
    const { stderr: refused } = await run(emulator, "--terraform", stateOf({ instances: tainted }));
    expect(refused).toContain(`Run terraform untaint '${keyed("two  blanks")}', and`);
  });

  test.each(["two\nlines", "\b", "\u202ex", "\u{e0001}", "\u001b[31m", "\u00a0", "\ud800", "##vso[task]"])(
    "leaves out an endpoint with the key %j, which no command can show",
    async (index_key) => {
      const emulator = await service();
      const [odd, plain] = ["odd", "plain"].map(
        (name) => emulator.seed({ type: "cloud", url: `https://${name}.example.com` }).id,
      );
      const address = keyed(index_key);
      const endpoints = [
        { address, type: "ngrok_cloud_endpoint", name: "front", mode: "managed", values: { id: odd } },
        {
          address: "ngrok_cloud_endpoint.a",
          type: "ngrok_cloud_endpoint",
          name: "a",
          mode: "managed",
          values: { id: plain },
        },
        // Another resource whose name is not Terraform's.
        { address: `x.\u001b${index_key}`, type: "x", name: "x", mode: "managed" },
      ];
      const states = [
        stateOf(
          { instances: [{ index_key, attributes: { id: odd } }] },
          { name: "a", instances: [{ attributes: { id: plain } }] },
        ),
        fileOf({ format_version: "1.0", values: { root_module: { resources: endpoints } } }),
      ];
      for (const state of states) {
        const { code, stdout, stderr } = await run(emulator, "--terraform", state);
        expect(code).toBe(0);
        expect(stderr).toContain(
          `Left out: ${odd} (https://odd.example.com): its address in Terraform has characters that no command can show. Adopt it by its id, without --terraform\n`,
        );
        expect(forgotten(stderr)).toEqual(["ngrok_cloud_endpoint.a"]);
        expect(stdout + stderr).not.toMatch(/(?!\n)\p{C}|##vso\[/u);
      }
    },
  );

  test("names an endpoint with two addresses by the first, and forgets both", async () => {
    const emulator = await service();
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    const instances = [{ attributes: { id } }];
    const state = stateOf({ name: "a", instances }, { name: "b", instances });
    const { stdout, stderr } = await run(emulator, "--terraform", state);
    expect(resourcesIn(stdout)).toEqual({ a: id });
    expect(stderr).toContain(
      `${id} has 2 addresses, and its name from the first: ngrok_cloud_endpoint.a, ngrok_cloud_endpoint.b\n`,
    );
    expect(stderr).toContain("It must report 2 removed.");
    expect(forgotten(stderr)).toEqual(["ngrok_cloud_endpoint.a", "ngrok_cloud_endpoint.b"]);
  });

  test("reports endpoints that stay and refer to one that moves, and the number of many other resources", async () => {
    const emulator = await service();
    const [a, b, c] = ["a", "b", "b"].map((name) =>
      emulator.seed({ type: "cloud", url: `https://${name}.example.com`, pooling_enabled: true }),
    );
    const others = Array.from({ length: 25 }, (_, i) => ({
      type: "x",
      name: `n${i}`,
      instances: [{ deposed: undefined }],
    }));
    const instance = (live: typeof a, dependencies?: string[]) => ({
      instances: [{ attributes: { id: live?.id, url: live?.["url"] }, dependencies }],
    });
    const state = stateOf(
      { name: "a", ...instance(a, ["ngrok_cloud_endpoint.b"]) },
      { name: "b", ...instance(b) },
      { name: "c", ...instance(c) },
      ...others,
    );
    const outputs = {
      page: { value: [{ text: "See https://b.example.com/start" }] },
      other: { value: "https://b.example.com.au" },
    };
    const file = fileOf({ ...JSON.parse(readFileSync(state, "utf8")), outputs });
    const { stderr } = await run(emulator, "--terraform", file, "--select", "ngrok_cloud_endpoint.b");
    expect(stderr.split("\n").filter((line) => /^Stays/.test(line))).toEqual([
      "Stays in Terraform: ngrok_cloud_endpoint.a, which refers to ngrok_cloud_endpoint.b. Replace that reference before you remove the block",
      "Stays in Terraform: output.page, which refers to ngrok_cloud_endpoint.b. Replace that reference before you remove the block",
      expect.stringMatching(/^Stays in Terraform, without a reference: x\.n0, .*, x\.n19 and 5 more$/),
    ]);
  });
});

test("the command for Terraform has no endpoint of the stack that it cannot forget alone", async () => {
  const instances = [{ attributes: { id: "ep_1" } }, { deposed: "1", attributes: { id: "ep_2" } }];
  const other = { name: "other", instances: [{ attributes: { id: "ep_3" } }] };
  const state = await TerraformState.read(stateOf({ instances }, other));
  const lines: string[] = [];
  state.logForget(new Set(["ep_1", "ep_3"]), (line) => void lines.push(line));
  expect(lines[0]).toMatch(
    /^Not in the command for Terraform: ep_1: ngrok_cloud_endpoint.front also has a deposed object/,
  );
  expect(lines.at(-1)).toBe("  terraform state rm \\\n    ngrok_cloud_endpoint.other");
});

test("names from addresses are unique and never taken ones, for any addresses", () => {
  const key = fc.constantFrom("", "[0]", "[1]", '["a"]', '["a.b"]', '["a-b"]', '["ü"]');
  const address = fc
    .tuple(
      fc.constantFrom("", "module.site", "module.site-a"),
      key,
      fc.constantFrom("a", "site", "front"),
      key,
    )
    .map(([module, k, name, l]) => `${module && `${module}${k}.`}ngrok_cloud_endpoint.${name}${l}`);
  fc.assert(
    fc.property(fc.uniqueArray(address), fc.constantFrom("a", "site-a", "front-0"), (addresses, taken) => {
      const endpoints = addresses.map((_, i) => ({
        id: `ep_${i}`,
        type: "cloud",
        url: "https://pool.example.com",
      }));
      const addressOf = (id: string) => addresses[Number(id.slice(3))];
      const names = [...namesOf(endpoints, (name) => name === taken, addressOf).values()];
      expect(new Set([...names, taken]).size).toBe(addresses.length + 1);
    }),
  );
});
