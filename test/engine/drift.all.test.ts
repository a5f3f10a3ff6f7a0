import { expect, test } from "vitest";
import type { Edit, RunResult } from "../../sdk/testing";
import { edit, methods, onBothDrivers, PLUGIN, writes } from "./setup";

const PROGRAM = `
const shop = new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  trafficPolicy: { on_http_request: [] },
  description: "front door",
  metadata: { team: "shop" },
  bindings: ["public"],
  poolingEnabled: false,
});
new CloudEndpoint("other", { url: "https://other.example.com" });
module.exports = { id: shop.id };
`;

onBothDrivers("drift", (start) => {
  test("of any field is shown as a change of that field, and reverted by the next up", async () => {
    const stack = await start(PROGRAM);
    const { id } = (await stack.up()).outputs as { id: string };
    const drifts: [string, Edit][] = [
      ["description", { description: "by hand" }],
      ["description", { description: undefined }],
      ["trafficPolicy", { traffic_policy: '{"on_http_request":[{"actions":[]}]}' }],
      ["metadata", { metadata: "{}" }],
      ["bindings", { bindings: ["internal"] }],
      ["poolingEnabled", { pooling_enabled: true }],
      ["url", { url: "https://elsewhere.example.com" }],
    ];
    for (const [field, change] of drifts) {
      const good = stack.emulator.endpoints.find((endpoint) => endpoint.id === id);
      stack.emulator.edit(id, change);
      const sign = field === "description" && change.description === undefined ? "-" : "~";

      const refresh = await stack.refresh();
      const drifted = refresh.steps.filter((step) => step.op !== "same" && step.diff.length > 0);
      expect(drifted.map(({ name, diff }) => ({ name, diff }))).toEqual([
        { name: "shop", diff: [sign + field] },
      ]);

      const up = await stack.up();
      const shown = up.steps.filter((step) => step.op === "update");
      expect(shown.map(({ name, diff }) => ({ name, diff }))).toEqual([
        { name: "shop", diff: [(sign === "-" ? "+" : "~") + field] },
      ]);
      expect(methods(up)).toEqual(["PATCH"]);
      expect(stack.emulator.endpoints.find((endpoint) => endpoint.id === id)).toEqual({
        ...good,
        updated_at: expect.any(String),
      });
      await stack.refresh({ expectNoChanges: true });
    }
  });

  test("of an input that the service chose is shown and reverted, unless the program ignores its changes", async () => {
    const edits: [
      name: string,
      type: string,
      change: Edit,
      back: Edit,
      refreshed: string,
      reverted: string,
    ][] = [
      ["a", "CloudEndpoint", { bindings: ["public"] }, { bindings: ["internal"] }, "+bindings", "-bindings"],
      [
        "b",
        "CloudEndpoint",
        { pooling_enabled: true },
        { pooling_enabled: false },
        "+poolingEnabled",
        "-poolingEnabled",
      ],
      ["c", "PluginEndpoint", { bindings: ["public"] }, { bindings: ["internal"] }, "~bindings", "~bindings"],
      [
        "d",
        "PluginEndpoint",
        { pooling_enabled: true },
        { pooling_enabled: false },
        "~poolingEnabled",
        "~poolingEnabled",
      ],
    ];
    const program = (options = "") =>
      PLUGIN +
      edits
        .map(([name, type]) => `new ${type}("${name}", { url: "https://${name}.internal" }, { ${options} });`)
        .join("\n");
    const stack = await start(program());
    await stack.up();
    await stack.preview({ expectNoChanges: true });
    const idOf = (name: string) =>
      stack.emulator.endpoints.find(({ url }) => url === `https://${name}.internal`)?.id ?? "";
    const editAll = () => edits.forEach(([name, , change]) => void stack.emulator.edit(idOf(name), change));
    const updates = ({ steps }: RunResult) =>
      steps
        .filter(({ op }) => op === "update")
        .map(({ name, diff }) => [name, ...diff])
        .sort();

    editAll();
    expect(updates(await stack.refresh())).toEqual(edits.map(([name, , , , refreshed]) => [name, refreshed]));
    await stack.refresh({ expectNoChanges: true });
    const up = await stack.up();
    expect(updates(up)).toEqual(edits.map(([name, , , , , reverted]) => [name, reverted]));
    const sent = writes(up).map(({ body }) => body);
    expect(sent).toHaveLength(edits.length);
    for (const [name, , , back] of edits) expect(sent).toContainEqual({ id: idOf(name), ...back });
    await stack.preview({ expectNoChanges: true });

    edit(stack, program('ignoreChanges: ["bindings", "poolingEnabled"]'));
    await stack.up({ expectNoChanges: true });
    editAll();
    await stack.refresh();
    expect(methods(await stack.up({ expectNoChanges: true }))).toEqual([]);
    await stack.refresh({ expectNoChanges: true });
  });
});
