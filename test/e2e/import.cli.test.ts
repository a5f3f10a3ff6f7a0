import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { seedMixed } from "../commands/mixedAccount";
import { runCommand } from "../commands/runCommand";
import { temporaryFolder } from "../folders";
import { paths } from "../requests";
import { edit, onBothDrivers, onCli, writes } from "./setup";

const shop = (options = "") =>
  `new CloudEndpoint("shop", { url: "https://shop.example.com", description: "ours" }, { ${options} });`;

const importFile = z.object({ resources: z.array(z.object({ name: z.string(), id: z.string() })) });

onBothDrivers("an import from the plugin", (start) => {
  test("by option is followed by one update if the program differs, and later causes no change", async () => {
    const id = "ep_theirs";
    const stack = await start(shop(`import: "${id}"`), { env: { ENDPOINTS_PROVIDER: "plugin" } });
    stack.emulator.seed({ type: "cloud", id, url: "https://shop.example.com", description: "by hand" });
    const up = await stack.up();
    expect(up.steps.map(({ op, diff }) => [op, diff])).toEqual([
      ["import", []],
      ["update", ["~description"]],
    ]);
    expect(paths(up)).toEqual(["GET /endpoints", `PATCH /endpoints/${id}`]);
    edit(stack, shop());
    await stack.up({ expectNoChanges: true });
  });
});

// The test kit's engine has no import command.
onCli("the import command", (start) => {
  test("with the file of adopt --format import takes over an account's cloud endpoints, and the next preview shows no change", async () => {
    const settings = { "endpoints:requestsPerWindow": "100000", "endpoints:provider": "plugin" };
    const stack = await start("", { config: settings });
    const { emulator } = stack;
    seedMixed(emulator, 30);
    const before = emulator.endpoints;
    const file = join(temporaryFolder(), "import.json");
    const env = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
    const { code, stderr } = await runCommand(["adopt", "--format", "import", "--out", file], env);
    expect(code).toBe(0);
    expect(stderr).toContain(`Next: pulumi import --file ${file}`);
    const { resources } = importFile.parse(JSON.parse(readFileSync(file, "utf8")));
    expect((await stack.import(file)).changes).toMatchObject({ import: resources.length });

    // The first half belongs to this package's class, the other one to a generated SDK's.
    const definitions = resources.map(({ name, id }, index) => {
      const { url, description, metadata, traffic_policy, bindings, pooling_enabled } =
        before.find((endpoint) => endpoint.id === id) ?? {};
      const documents = { trafficPolicy: traffic_policy, metadata };
      const inputs = { url, description, bindings, poolingEnabled: pooling_enabled, ...documents };
      const type = index < resources.length / 2 ? "CloudEndpoint" : "endpoints.CloudEndpoint";
      return `new ${type}(${JSON.stringify(name)}, ${JSON.stringify(inputs)}, { protect: true });`;
    });
    edit(stack, definitions.join("\n"));
    await stack.preview({ expectNoChanges: true });
    expect(writes(await stack.refresh({ expectNoChanges: true }))).toEqual([]);
    expect(emulator.endpoints).toEqual(before);
  });
});
