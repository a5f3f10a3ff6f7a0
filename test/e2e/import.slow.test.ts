import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Emulator, type ImportSpec } from "../../sdk/testing";
import { seedMixed } from "../commands/mixedAccount";
import { runCommand } from "../commands/runCommand";
import { temporaryFolder } from "../folders";
import { paths } from "../requests";
import { edit, onBothDrivers, PLUGIN, writes } from "./setup";

const TYPE = "endpoints:index:CloudEndpoint";
const policy = (status: number) => ({
  on_http_request: [{ actions: [{ type: "deny", config: { status_code: status } }] }],
});
const shop = (status: number, options = "") => `${PLUGIN}
const shop = new PluginEndpoint("shop", {
  url: "https://shop.example.com",
  trafficPolicy: ${JSON.stringify(policy(status))},
}, { deleteBeforeReplace: true, ${options} });
module.exports = { id: shop.id, url: shop.publicUrl };`;

onBothDrivers("an import from the plugin", (start, driver) => {
  const seed = (emulator: Emulator, name: string, status = 404) =>
    emulator.seed({
      type: "cloud",
      url: `https://${name}.example.com`,
      traffic_policy: JSON.stringify(policy(status)),
    }).id;

  test("by option adopts the endpoint without a write, and causes no later change", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const id = seed(emulator, "shop");
    const stack = await start(shop(404, `import: "${id}"`), { emulator });
    expect((await stack.preview()).changes).toMatchObject({ import: 1 });
    const up = await stack.up();
    expect(up.outputs).toMatchObject({ id });
    expect(writes(up)).toEqual([]);
    await stack.up({ expectNoChanges: true });
    edit(stack, shop(404));
    await stack.up({ expectNoChanges: true });
  });

  test("by option is followed by an update if the program differs", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const id = seed(emulator, "shop", 403);
    const stack = await start(shop(404, `import: "${id}"`), { emulator });
    const up = await stack.up();
    expect(up.steps.map(({ op, diff }) => [op, diff])).toEqual([
      ["import", []],
      ["update", ["~trafficPolicy"]],
    ]);
    // The list's item lacks inputs.
    expect(paths(up)).toEqual(["GET /endpoints", `GET /endpoints/${id}`, `PATCH /endpoints/${id}`]);
  });

  test.runIf(driver === "cli")(
    "by command protects one or several endpoints, and causes no change",
    async () => {
      const stack = await start("");
      const ids = ["a", "b", "c"].map((name) => seed(stack.emulator, name));
      const spec = (i: number): ImportSpec => ({ type: TYPE, name: `n${i}`, id: ids[i] ?? "" });
      const one = await stack.import([spec(0)], { code: true });
      expect(writes(one)).toEqual([]);
      expect(one.code).toMatch(/new endpoints\.CloudEndpoint\("n0"/);
      const many = await stack.import([spec(1), spec(2)]);
      expect(
        many.steps
          .filter(({ op }) => op === "import")
          .map(({ name }) => name)
          .sort(),
      ).toEqual(["n1", "n2"]);

      const resources = ["a", "b", "c"].map(
        (name, i) =>
          `new PluginEndpoint("n${i}", { url: "https://${name}.example.com", trafficPolicy: ${JSON.stringify(policy(404))} }, { protect: true });`,
      );
      edit(stack, PLUGIN + resources.join("\n"));
      expect(writes(await stack.up({ expectNoChanges: true }))).toEqual([]);
      await expect(stack.destroy()).rejects.toThrow(/protect/);
    },
  );
});

const importFile = z.object({
  resources: z.array(z.object({ type: z.string(), name: z.string(), id: z.string() })),
});

onBothDrivers("the file of adopt --format import", (start, driver) => {
  // The test kit's engine has no import command.
  test.runIf(driver === "cli")(
    "imports all cloud endpoints of an account, and the next preview shows no change",
    async () => {
      const stack = await start("", { config: { "endpoints:requestsPerWindow": "100000" } });
      const { emulator } = stack;
      seedMixed(emulator, 150);
      const before = emulator.endpoints;
      const file = join(temporaryFolder(), "import.json");
      const env = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
      const { code, stdout, stderr } = await runCommand(["adopt", "--format", "import", "--out", file], env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toContain(`Next: pulumi import --file ${file}`);

      const first = emulator.requests.length;
      expect((await stack.import({ file })).changes).toMatchObject({ import: 100 });
      // The page of the list, and by id those whose item lacks an input, and the first one.
      const lacking = before.filter(
        ({ type, description, metadata, traffic_policy }) =>
          type === "cloud" && [description, metadata, traffic_policy].includes(undefined),
      );
      const requests = paths({ requests: emulator.requests.slice(first) });
      expect(requests.filter((path) => path === "GET /endpoints")).toHaveLength(1);
      expect(requests).toEqual(expect.arrayContaining(lacking.map(({ id }) => `GET /endpoints/${id}`)));
      expect(requests.length - lacking.length - 1).toBeOneOf([0, 1]);

      const { resources } = importFile.parse(JSON.parse(readFileSync(file, "utf8")));
      const definitions = resources.map(({ name, id }) => {
        const { url, description, metadata, traffic_policy, bindings, pooling_enabled } =
          before.find((endpoint) => endpoint.id === id) ?? {};
        const documents = { trafficPolicy: traffic_policy, metadata };
        const inputs = { url, description, bindings, poolingEnabled: pooling_enabled, ...documents };
        return `new PluginEndpoint(${JSON.stringify(name)}, ${JSON.stringify(inputs)}, { protect: true });`;
      });
      edit(stack, PLUGIN + definitions.join("\n"));
      await stack.preview({ expectNoChanges: true });
      expect(emulator.endpoints).toEqual(before);
      expect(writes({ ...(await stack.refresh({ expectNoChanges: true })) })).toEqual([]);
    },
  );
});
