import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { adoptCommand } from "../../../../sdk/commands/adopt";
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
    expect(Object.keys(resourcesIn(result.stdout))).toHaveLength(10);

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

  test("refuses tainted and deposed objects with the reason and the next step, and ignores data sources", async () => {
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
    for (const id of [tainted?.id, deposed?.id]) expect(stdout).not.toContain(id);
    expect(stdout.split(String(objects[0]?.id))).toHaveLength(2);
    expect(forgotten(stderr).filter((address) => /moving|landing/.test(address))).toEqual([
      "ngrok_cloud_endpoint.landing",
      "ngrok_cloud_endpoint.moving",
    ]);
  });

  test("lists the resources that stay in Terraform, with their references to and from endpoints", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    seedState(emulator, objects);
    const lines = async (state: string) =>
      (await run(emulator, "--terraform", state)).stderr.split("\n").filter((line) => /^Stays/.test(line));
    const expected = [
      "Stays in Terraform: ngrok_domain.shop, to which ngrok_cloud_endpoint.landing refers",
      "Stays in Terraform: terraform_data.dns, which refers to ngrok_cloud_endpoint.landing. Replace that reference before you remove the block",
      "Stays in Terraform, without a reference: terraform_data.unrelated",
    ];
    expect(await lines(file)).toEqual(expected);

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
    const names = async (...args: string[]) => {
      const { stdout, stderr } = await run(emulator, "--terraform", file, ...args);
      expect(forgotten(stderr)).toHaveLength(Object.keys(resourcesIn(stdout)).length);
      return Object.keys(resourcesIn(stdout)).sort();
    };
    expect(await names("--select", 'module.site["BLOG"].*.back*', "--select", "https://landing.*")).toEqual([
      ...["landing", "site-blog-back-0", "site-blog-back-1", "site-blog-back-2"],
    ]);
    expect(
      await names(
        "--select=*.pool[*",
        "--except=ngrok_cloud_endpoint.pool[1]",
        "--except",
        "https://landing.*",
      ),
    ).toEqual(["pool-0", "pool-2"]);
    const wrong = await run(emulator, "--terraform", file, "--except", "module.nobody*");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
  });

  test("reports endpoints that the account does not have, and fails if it has none of them", async () => {
    const emulator = await service();
    const { file, objects } = terraformState("small-1.5.tfstate");
    const [first, ...others] = objects;
    emulator.seed({ type: "cloud", url: "https://other.example.com" });
    const none = await run(emulator, "--terraform", file);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain(
      `the account has none of the 12 endpoints of ${file}: is it another account's state?`,
    );
    seedState(emulator, others);
    const { code, stderr } = await run(emulator, "--terraform", file);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `Not found: ngrok_cloud_endpoint.landing (${first?.id}) is no cloud endpoint of the account. It was deleted, or is another account's\n`,
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
      [[file, "--terraform", file], "--terraform takes one state: run the command for each"],
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
      "two\nlines",
      "*.example.com",
      "ü",
      "\u202ex\u{e0001}",
    ];
    const endpoints = keys.map((_, i) => emulator.seed({ type: "cloud", url: `https://n${i}.example.com` }));
    const instances = keys.map((index_key, i) => ({ index_key, attributes: { id: endpoints[i]?.id } }));
    const block = { mode: "managed", type: "ngrok_cloud_endpoint", name: "front", instances };
    const state = fileOf({ version: 4, resources: [block] });
    const { stdout, stderr } = await run(emulator, "--terraform", state);
    expect(forgotten(stderr)).toEqual([
      'ngrok_cloud_endpoint.front["it\'s"]',
      'ngrok_cloud_endpoint.front["say \\"hi\\""]',
      ['ngrok_cloud_endpoint.front["$$', '{x} %%{y} $5"]'].join(""),
      'ngrok_cloud_endpoint.front["a\\\\b"]',
      'ngrok_cloud_endpoint.front["two\\nlines"]',
      'ngrok_cloud_endpoint.front["*.example.com"]',
      'ngrok_cloud_endpoint.front["ü"]',
      'ngrok_cloud_endpoint.front["\\u202ex\\U000e0001"]',
    ]);
    expect(Object.keys(resourcesIn(stdout)).sort()).toEqual([
      ...["front", "front-a-b", "front-it-s", "front-say-hi", "front-two-nlines"],
      ...["front-u202ex-U000e0001", "front-wildcard-example-com", "front-x-y-5"],
    ]);
  });
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
