import { expect, test } from "vitest";
import type { Edit } from "../../sdk/testing";
import { methods, onBothDrivers } from "./setup";

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
});
