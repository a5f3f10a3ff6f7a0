import { describe, expect, test } from "vitest";
import type { TestStack } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, PLUGIN, plainIn, writes } from "./setup";

/** Resources by name, each with the label of its URL, and options. */
const program = (resources: Record<string, string>, inputs = "", options = "") =>
  Object.entries(resources)
    .map(
      ([name, label]) =>
        `new CloudEndpoint("${name}", { url: "https://${label}.example.com", ${inputs} }, { ${options} });`,
    )
    .join("\n");

const list = (...labels: string[]) =>
  program(Object.fromEntries(labels.map((label, index) => [`list-${index}`, label])));

const urls = (stack: TestStack) =>
  stack.emulator.endpoints.map(({ url }) => url?.slice("https://".length, -".example.com".length)).sort();

onBothDrivers("an endpoint has one owner", (start, driver) => {
  describe.each(["dynamic", "plugin"])("with the %s provider", (provider) => {
    const begin = (code: string, config: Record<string, string> = {}, env: Record<string, string> = {}) =>
      start(code, { env: { ENDPOINTS_PROVIDER: provider, ...env }, config });
    /** The URN that a resource of this name has, or would have. */
    const urnOf = (name: string) => {
      const type =
        provider === "plugin"
          ? "endpoints:index:CloudEndpoint"
          : "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";
      return async (stack: TestStack) => {
        const [root] = (await stack.exportState()).deployment.resources ?? [];
        return String(root?.urn).replace(/pulumi:pulumi:Stack::.*/, `${type}::${name}`);
      };
    };

    test("so a rename with `adopt` keeps the live endpoint, in one run", async () => {
      const stack = await begin(program({ o: "shop" }));
      await stack.up();
      const [{ id } = { id: "" }] = stack.emulator.endpoints;
      edit(stack, program({ n: "shop" }, "adopt: true"));
      const up = await stack.up();
      expect(plainIn(up.diagnostics)).toContain(
        `${id} belongs to another resource of this stack, so it was not deleted`,
      );
      expect(writes(up)).toEqual([]);
      expect((await stack.up({ expectNoChanges: true })).requests).toEqual([]);
      expect(stack.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
      await stack.destroy();
      expect(stack.emulator.endpoints).toEqual([]);
    });

    test("so a rename without an alias fails, names aliases first, and works with one", async () => {
      const stack = await begin(program({ o: "shop" }));
      await stack.up();
      edit(stack, program({ n: "shop" }));
      const [message = ""] = errors(await failure(stack.up()));
      expect(message).toMatch(/If you renamed or moved this resource, give it aliases/);
      edit(stack, program({ n: "shop" }, "", 'aliases: [{ name: "o" }]'));
      expect(writes(await stack.up())).toEqual([]);
    });

    test("so `up --target` of the new name, and then a full `up`, keep the endpoint", async () => {
      const stack = await begin(program({ o: "shop" }));
      await stack.up();
      edit(stack, program({ n: "shop" }, "adopt: true"));
      await stack.up({ target: [await urnOf("n")(stack)] });
      await stack.up();
      expect(urls(stack)).toEqual(["shop"]);
      await stack.refresh({ expectNoChanges: true });
    });

    test("so a rename that moves the resource to the other provider keeps its marked endpoint", async () => {
      const marks = { "endpoints:mark": "team/dev" };
      const other = provider === "plugin" ? "dynamic" : "plugin";
      const moved = `new CloudEndpoint("n", { url: "https://shop.example.com", adopt: true });`;
      const stack = await begin(program({ o: "shop" }), marks);
      await stack.up();
      edit(stack, `process.env.ENDPOINTS_PROVIDER = "${other}";\n${moved}`);
      await stack.up();
      expect(urls(stack)).toEqual(["shop"]);
      await stack.destroy();
      expect(urls(stack)).toEqual([]);
    });

    test("so a list by index that grows at its front moves each URL in one `up`, at any `--parallel`", async () => {
      for (const parallel of ["1", "16"]) {
        const stack = await begin(list("y", "z"), {}, { PULUMI_PARALLEL: parallel });
        await stack.up();
        edit(stack, list("x", "y", "z"));
        const up = await stack.up();
        expect(urls(stack)).toEqual(["x", "y", "z"]);
        expect(up.requests.length).toBeLessThan(12);
        await stack.refresh({ expectNoChanges: true });
      }
    });

    test("so a list that drops its first and adds a last one moves each URL, also one after the other", async () => {
      for (const parallel of ["1", "16"]) {
        const stack = await begin(list("a", "b"), {}, { PULUMI_PARALLEL: parallel });
        await stack.up();
        edit(stack, list("b", "c"));
        await stack.up();
        expect(urls(stack)).toEqual(["b", "c"]);
        await stack.refresh({ expectNoChanges: true });
      }
    });

    test("so a swap fails at once, names both, and works with `--replace` of one", async () => {
      const stack = await begin(program({ one: "a", two: "b" }));
      await stack.up();
      edit(stack, program({ one: "b", two: "a" }));
      const failed = await failure(stack.up());
      for (const { id = "" } of stack.emulator.endpoints) expect(errors(failed).join("\n")).toContain(id);
      expect(errors(failed).join("\n")).toMatch(/pulumi up --replace/);
      await stack.up({ replace: ["one"] });
      expect(urls(stack)).toEqual(["a", "b"]);
      await stack.refresh({ expectNoChanges: true });
    });

    test("so a URL of a removed resource is free after `up --target` of that, as the message says", async () => {
      const stack = await begin(program({ removed: "shop" }), { "endpoints:mark": "team/dev" });
      await stack.up();
      edit(stack, program({ fresh: "shop" }));
      const message = errors(await failure(stack.up())).join("\n");
      expect(message).toMatch(/run `pulumi up --target '(urn:[^']+::removed)'` first/);
      // The test kit's engine cannot leave out a new resource.
      if (driver === "kit") edit(stack, "");
      await stack.up({ target: [await urnOf("removed")(stack)] });
      edit(stack, program({ fresh: "shop" }));
      await stack.up();
      expect(urls(stack)).toEqual(["shop"]);
      await stack.refresh({ expectNoChanges: true });
    });
  });

  test("so a stack that was renamed, and an import beside the resource, keep it", async () => {
    const both = `${PLUGIN}
new PluginEndpoint("one", { url: "https://shop.example.com" });
new PluginEndpoint("two", { url: "https://shop.example.com" }, { import: process.env.IMPORTED });`;
    const stack = await start(`${PLUGIN} new PluginEndpoint("one", { url: "https://shop.example.com" });`);
    await stack.up();
    const [{ id = "" } = {}] = stack.emulator.endpoints;
    edit(stack, both.replace("process.env.IMPORTED", JSON.stringify(id)));
    expect(errors(await failure(stack.up())).join("\n")).toMatch(
      // The import and the resource start together.
      /already belongs to another resource of this stack|belongs to two resources of this stack/,
    );
    expect(urls(stack)).toEqual(["shop"]);
  });
});
