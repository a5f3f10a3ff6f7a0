import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../folders";
import { seedMixed } from "../sdk/commands/mixedAccount";
import { runCommand } from "../sdk/commands/runCommand";
import { edit, onBothDrivers, PLUGIN, writes } from "./setup";

const importFile = z.object({
  resources: z.array(z.object({ type: z.string(), name: z.string(), id: z.string() })),
});

onBothDrivers("the file of import-file", (start, driver) => {
  // The engine of the test kit does not import by command.
  test.runIf(driver === "cli")(
    "brings a whole account under management, and the next preview shows nothing",
    async () => {
      const stack = await start("", { config: { "endpoints:requestsPerWindow": "100000" } });
      const { emulator } = stack;
      seedMixed(emulator, 150);
      const before = emulator.endpoints;
      const file = join(temporaryFolder(), "import.json");
      const env = { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey };
      const { code, stdout, stderr } = await runCommand(["import-file", "--out", file], env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toContain(`Next: pulumi import --file ${file}`);

      const first = emulator.requests.length;
      expect((await stack.import({ file })).changes).toMatchObject({ import: 100 });
      const reads = emulator.requests.slice(first).map(({ method, path }) => `${method} ${path}`);
      expect(reads).toHaveLength(100);
      expect(new Set(reads).size).toBe(100);

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
