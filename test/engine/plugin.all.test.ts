import { expect, onTestFinished, test } from "vitest";
import { Emulator, type ImportSpec } from "../../sdk/testing";
import { edit, errors, failure, methods, onBothDrivers, PLUGIN, writes } from "./setup";

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

onBothDrivers("the plugin", (start) => {
  test("creates, shows no change, and names the path inside a policy that somebody changed", async () => {
    const stack = await start(shop(404));
    expect(writes(await stack.preview())).toEqual([]);
    const { id } = (await stack.up()).outputs as { id: string };
    await stack.preview({ expectNoChanges: true });
    await stack.refresh({ expectNoChanges: true });

    stack.emulator.edit(id, { traffic_policy: JSON.stringify(policy(403)) });
    const refresh = await stack.refresh();
    expect(refresh.steps.map(({ op, diff }) => ({ op, diff }))).toContainEqual({
      op: "update",
      diff: ["~trafficPolicy"],
    });
    expect((await stack.preview({ diff: true })).text).toMatch(/status_code: 403 => 404/);
    expect(methods(await stack.up())).toEqual(["PATCH"]);
    expect(methods(await stack.destroy())).toEqual(["DELETE"]);
  });
});

onBothDrivers("an import from the plugin", (start, driver) => {
  const seed = (emulator: Emulator, name: string, status = 404) =>
    emulator.seed({
      type: "cloud",
      url: `https://${name}.example.com`,
      traffic_policy: JSON.stringify(policy(status)),
    }).id;

  test("by option takes over what is there, and changes what the program wants otherwise", async () => {
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

  test("by option is followed by an update where the program differs", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const id = seed(emulator, "shop", 403);
    const stack = await start(shop(404, `import: "${id}"`), { emulator });
    const up = await stack.up();
    expect(up.steps.map(({ op, diff }) => [op, diff])).toEqual([
      ["import", []],
      ["update", ["~trafficPolicy"]],
    ]);
    expect(methods(up)).toEqual(["GET", "PATCH"]);
  });

  test.runIf(driver === "cli")(
    "by command, one or many, protects what it imports and leaves nothing to change",
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

  test("is refused for an endpoint that is no cloud endpoint", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const { id } = emulator.seed({ type: "edge", url: "https://edge.example.com" });
    const stack = await start(shop(404, `import: "${id}"`), { emulator });
    const result = await failure(stack.up());
    expect(errors(result).join()).toMatch(/edge/);
    expect((await stack.exportState()).deployment.resources?.map(({ type }) => type)).not.toContain(TYPE);
  });
});

onBothDrivers("a stack", (start) => {
  test("moves from the dynamic type to the plugin's without a change, and is destroyed there", async () => {
    const stack = await start(`
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: ${JSON.stringify(policy(404))} });
module.exports = { id: shop.id };`);
    const { id } = (await stack.up()).outputs;
    edit(stack, shop(404, 'aliases: [{ type: "pulumi-nodejs:dynamic/endpoints:CloudEndpoint" }]'));
    expect(writes(await stack.preview())).toEqual([]);
    const up = await stack.up();
    expect(writes(up)).toEqual([]);
    expect(up.outputs["id"]).toBe(id);
    expect(up.changes["replace"]).toBeUndefined();
    await stack.up({ expectNoChanges: true });
    expect(methods(await stack.destroy())).toEqual(["DELETE"]);
  });
});
