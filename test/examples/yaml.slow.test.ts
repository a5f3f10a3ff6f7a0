import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { CliStack, Emulator, findPulumiCli } from "../../sdk/testing";
import { examplesIn } from "../docs/schemaExamples";
import { copyOf } from "../e2e/example";
import { programFolder } from "../folders";
import { secret } from "../provider/plugin/pluginClient";

const found = (await findPulumiCli()) && (await findPulumiCli(undefined, "yaml"));

describe.skipIf(!found)("with the Pulumi CLI and pulumi-language-yaml on the PATH, the YAML example", () => {
  test("creates endpoints in two accounts, repairs drift, runs the code of an import, and deletes all", async () => {
    const { stack, folder, mine, partner } = await start();
    const agent = mine.seed({ type: "ephemeral" });
    const up = await stack.up();
    expect(up.outputs).toEqual({
      webhookUrl: "https://hooks.example.com",
      statusUrl: "https://status.example.com",
      agents: [agent.id],
    });
    const [hooks] = mine.endpoints.filter(({ type }) => type === "cloud");
    expect(JSON.parse(hooks?.traffic_policy ?? "")).toMatchObject({
      on_http_request: [{ actions: [{ config: { provider: "github", secret: "CANARY" } }, {}] }],
    });
    expect(partner.endpoints.map(({ url }) => url)).toEqual(["https://status.example.com"]);
    expect(up.text).not.toContain("CANARY");
    const { resources = [] } = (await stack.exportState()).deployment;
    const state = resources.find(({ urn }) => urn.endsWith("::hooks"));
    for (const side of [state?.inputs, state?.outputs]) {
      const { value: _, ...mark } = secret({});
      expect(side?.["trafficPolicy"]).toMatchObject(mark);
    }

    mine.edit(hooks?.id ?? "", { description: "by hand" });
    const drifted = (await stack.refresh()).steps.filter(({ diff }) => diff.length > 0);
    expect(drifted).toMatchObject([{ name: "hooks", diff: ["~description"] }]);
    expect((await stack.up({ skipPreview: true })).steps.filter(({ op }) => op !== "same")).toMatchObject([
      { op: "update", name: "hooks", diff: ["~description"] },
    ]);
    expect(mine.requests.at(-1)).toMatchObject({ method: "PATCH" });

    const { id } = mine.seed({ type: "cloud", url: "https://old.example.com", metadata: '{"team":"shop"}' });
    const old = { type: "endpoints:index:CloudEndpoint", name: "old", id };
    const toImport = join(folder, "import.json");
    writeFileSync(toImport, JSON.stringify({ resources: [old] }));
    const { code = "" } = await stack.import(toImport, { protect: false, code: true });
    const file = join(folder, "Pulumi.yaml");
    const program = parse(readFileSync(file, "utf8"));
    Object.assign(program.resources, parse(code).resources);
    writeFileSync(file, stringify(program));
    expect((await stack.preview({ expectNoChanges: true })).changes).toEqual({ same: 5 });

    await stack.destroy();
    expect([...mine.endpoints, ...partner.endpoints].map(({ type }) => type)).toEqual(["ephemeral"]);
  });
});

describe.skipIf(!found)(
  "with the Pulumi CLI and pulumi-language-yaml on the PATH, of the schema's examples",
  () => {
    test.each(examplesIn("yaml"))("$name runs, and creates what it says", async ({ name, code }) => {
      const emulator = await Emulator.start();
      emulator.seed({ type: "ephemeral", url: "https://shop.internal" });
      const folder = programFolder();
      const plugin = join(import.meta.dirname, "../../provider/plugin");
      writeFileSync(
        join(folder, "Pulumi.yaml"),
        `name: ${name}\nruntime: yaml\npackages: { endpoints: ${JSON.stringify(plugin)} }\n\n${code}`,
      );
      const { config = {} } = parse(code);
      const stack = await CliStack.create({
        program: folder,
        env: { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey },
        config: Object.fromEntries(Object.keys(config).map((key) => [key, { secret: emulator.apiKey }])),
      });
      onTestFinished(async () => {
        await stack.close();
        await emulator.close();
      });
      const { text } = await stack.up();
      expect(text).not.toMatch(/warning/);
      const urls = [...code.matchAll(/^ {6}url: (\S+)$/gm)].map(([, url]) => url);
      expect(emulator.endpoints.filter(({ type }) => type === "cloud").map(({ url }) => url)).toEqual(urls);
    });
  },
);

/** Sets up the example as its first lines describe: one account in the environment, the partner's in the configuration. */
async function start() {
  const [mine, partner] = [await Emulator.start(), await Emulator.start()];
  const folder = copyOf("yaml");
  const stack = await CliStack.create({
    program: folder,
    env: { ENDPOINTS_BASE_URL: mine.baseUrl, ENDPOINTS_API_KEY: mine.apiKey },
    config: {
      webhookSecret: { secret: "CANARY" },
      partnerKey: { secret: partner.apiKey },
      partnerUrl: partner.baseUrl,
    },
  });
  onTestFinished(async () => {
    await stack.close();
    for (const service of [mine, partner]) await service.close();
  });
  return { stack, folder, mine, partner };
}
