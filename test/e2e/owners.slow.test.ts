import { expect, test } from "vitest";
import { edit, errors, failure, onBothDrivers, PLUGIN, plainIn, writes } from "./setup";

/* The other cases are scenes. */

const program = (name: string, inputs = "") =>
  `new CloudEndpoint("${name}", { url: "https://shop.example.com", ${inputs} });`;

onBothDrivers("an endpoint has one owner", (start) => {
  test.each(["dynamic", "plugin"])(
    "so a rename with `adopt` keeps the live endpoint, in one run of the %s provider",
    async (provider) => {
      const stack = await start(program("o"), { env: { ENDPOINTS_PROVIDER: provider } });
      await stack.up();
      const [{ id } = { id: "" }] = stack.emulator.endpoints;
      edit(stack, program("n", "adopt: true"));
      const up = await stack.up();
      expect(plainIn(up.diagnostics)).toContain(
        `${id} belongs to another resource of this stack, so it was not deleted`,
      );
      expect(writes(up)).toEqual([]);
      expect((await stack.up({ expectNoChanges: true })).requests).toEqual([]);
      expect(stack.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
      await stack.destroy();
      expect(stack.emulator.endpoints).toEqual([]);
    },
  );

  test("so an import beside the resource fails, and keeps it", async () => {
    const one = `${PLUGIN} new PluginEndpoint("one", { url: "https://shop.example.com" });`;
    const stack = await start(one);
    await stack.up();
    const [{ id } = { id: "" }] = stack.emulator.endpoints;
    edit(
      stack,
      `${one} new PluginEndpoint("two", { url: "https://shop.example.com" }, { import: "${id}" });`,
    );
    expect(errors(await failure(stack.up())).join("\n")).toMatch(
      // The import and the resource start together.
      /already belongs to another resource of this stack|belongs to two resources of this stack/,
    );
    expect(stack.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
  });
});
