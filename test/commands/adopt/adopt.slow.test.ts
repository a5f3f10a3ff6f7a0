import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseDocument } from "yaml";
import { type Emulator, TestStack } from "../../../sdk/testing";
import { emulatedService } from "../../emulatedService";
import { programFolder } from "../../folders";
import { seedMixed } from "../mixedAccount";
import { runCommand } from "../runCommand";
import { seedOdd } from "./oddEndpoints";
import { CANARIES, makeTypeScript, writes } from "./typeScriptProject";

const root = join(import.meta.dirname, "../../..");

test("the written program for endpoints of every kind compiles, and its first up changes nothing", async () => {
  const emulator = await emulatedService({ pageSize: 40 });
  seedMixed(emulator, 60);
  seedOdd(emulator);
  const before = emulator.endpoints;
  const where = programFolder();
  makeTypeScript(where);
  const file = join(where, "index.ts");

  const account = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
  const { code, stdout, stderr } = await runCommand(["adopt", "--out", file], account);
  expect(stderr).toContain("Selected: 49 endpoints");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(emulator.requests.map(({ path }) => path)).toEqual(["/endpoints", "/endpoints"]);
  const program = readFileSync(file, "utf8");
  expect(stderr + program).not.toMatch(CANARIES);
  expect(program.match(/^new CloudEndpoint\(/gm)).toHaveLength(49);
  expect(program).toContain("{secrets.get('hooks', 'brex')}");
  const tsc = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", where]);
  expect(`${tsc.stdout}`).toBe("");

  const stack = await TestStack.create({
    program: where,
    emulator,
    // The types are checked above.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    config: { ...listedSecrets(stderr, before), "endpoints:requestsPerWindow": "100000" },
  });
  onTestFinished(() => stack.close());
  const up = await stack.up({ skipPreview: true });
  expect(up.changes).toEqual({ create: 50 });
  // All adoptions share the two pages of the list. One may read its endpoint by id before the second page arrives.
  expect(up.requests.length).toBeLessThanOrEqual(4);
  expect((await stack.preview({ expectNoChanges: true })).changes).toEqual({ same: 50 });
  expect(writes(emulator)).toEqual([]);
  expect(emulator.endpoints).toEqual(before);
});

/** Reads the secrets at the places that the command listed, as a user does. */
function listedSecrets(stderr: string, endpoints: Emulator["endpoints"]): Record<string, { secret: string }> {
  const commands = [...stderr.matchAll(/config set --secret (\w+)\n +(\S+) of '\S+' \((\S+), /g)];
  expect(commands.length).toBe(10);
  return Object.fromEntries(
    commands.map(([, name, path = "", id]) => {
      const live = endpoints.find((endpoint) => endpoint.id === id);
      const [input = "", ...inner] = path.split(/\.|\[(\d+)\]\.?/).filter((part) => part);
      const document = input === "metadata" ? live?.metadata : live?.traffic_policy;
      const value = String(
        parseDocument(document ?? "").getIn(inner.map((part) => (/^\d+$/.test(part) ? Number(part) : part))),
      );
      return [`case:${name}`, { secret: value }];
    }),
  );
}
