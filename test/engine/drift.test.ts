import { expect, test } from "vitest";
import type { Edit } from "../../sdk/testing";
import { methods, onBothDrivers, writes } from "./setup";

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
  test("of any field is shown as exactly that field, and repaired by the next up", async () => {
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
      const seen = refresh.steps.filter((step) => step.op !== "same" && step.diff.length > 0);
      expect(seen.map(({ name, diff }) => ({ name, diff }))).toEqual([
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

  test("is told for a description that nobody gave, which the next up clears", async () => {
    const stack = await start(PROGRAM);
    await stack.up();
    const other = stack.emulator.endpoints.find((endpoint) => endpoint.url === "https://other.example.com");
    stack.emulator.edit(other?.id ?? "", { description: "by hand", bindings: ["internal"] });
    await stack.refresh();
    const up = await stack.up();
    expect(up.steps.filter((step) => step.op === "update").map((step) => step.diff)).toEqual([
      ["-description"],
    ]);
    expect(writes(up).map((request) => request.body)).toEqual([{ id: other?.id, description: "" }]);
  });

  test("of an endpoint that somebody deleted brings it back", async () => {
    const stack = await start(PROGRAM);
    const { id } = (await stack.up()).outputs as { id: string };
    stack.emulator.remove(id);
    const refresh = await stack.refresh();
    expect(refresh.changes).toMatchObject({ delete: 1 });
    const up = await stack.up();
    expect(methods(up)).toEqual(["POST"]);
    expect(up.outputs["id"]).not.toBe(id);
    expect(stack.emulator.endpoints).toHaveLength(2);
  });

  test("that cannot be read for one endpoint is still found for the others, and the run fails", async () => {
    const stack = await start(PROGRAM);
    const { id } = (await stack.up()).outputs as { id: string };
    const other = stack.emulator.endpoints.find((endpoint) => endpoint.id !== id);
    stack.emulator.edit(other?.id ?? "", { description: "by hand" });
    // A key that may not list: each endpoint is read by its id.
    stack.emulator.intercept(({ path }) => path === "/endpoints", { status: 403, body: "" });
    stack.emulator.intercept(({ path }) => path.endsWith(id), {
      status: 401,
      body: { error_code: "ERR_NGROK_202" },
    });
    await expect(stack.refresh()).rejects.toThrow(/cannot read ep_\w+: .*401.*pulumi refresh --run-program/);
    const resources = (await stack.exportState()).deployment.resources ?? [];
    expect(resources.find(({ urn }) => urn.endsWith("::shop"))?.id).toBe(id);
    expect(resources.find(({ urn }) => urn.endsWith("::other"))?.outputs).toMatchObject({
      description: "by hand",
    });
  });

  test("of an endpoint deleted before destroy is no failure", async () => {
    const stack = await start(PROGRAM);
    const { id } = (await stack.up()).outputs as { id: string };
    stack.emulator.remove(id);
    await stack.destroy();
    expect(stack.emulator.endpoints).toEqual([]);
  });
});
