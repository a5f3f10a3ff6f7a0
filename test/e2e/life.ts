import { expect, test } from "vitest";
import { edit, methods, onBothDrivers, writes } from "./setup";

const shop = (url: string, inputs: string) => `
const shop = new CloudEndpoint("shop", { url: "${url}", metadata: { team: "shop" }, ${inputs} });
module.exports = { id: shop.id, url: shop.publicUrl };
`;
const policy = (status: number) =>
  `trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code: ${status} } }] }] }`;

/** A test of an endpoint from its creation to its deletion. */
export function life(provider: "dynamic" | "plugin"): void {
  onBothDrivers(`an endpoint with the ${provider} provider`, (start) => {
    test("is created, updated, repaired, replaced and deleted with one request for each step", async () => {
      const stack = await start(shop("https://shop.example.com", policy(404)), {
        config: { "endpoints:provider": provider },
      });
      const up = await stack.up();
      const { id } = up.outputs as { id: string };
      expect(methods(up)).toEqual(["POST"]);
      expect(up.outputs).toEqual({ id: expect.stringMatching(/^ep_/), url: "https://shop.example.com" });
      expect(up.steps).toEqual([expect.objectContaining({ op: "create", name: "shop", id })]);

      expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);

      edit(stack, shop("https://store.example.com", `${policy(403)}, description: "front door"`));
      const change = await stack.up();
      expect(change.steps).toMatchObject([
        { op: "update", diff: ["+description", "~trafficPolicy", "~url"] },
      ]);
      expect(writes(change).map(({ body }) => body)).toEqual([
        {
          id,
          url: "https://store.example.com",
          description: "front door",
          traffic_policy: expect.stringContaining("403"),
        },
      ]);
      expect(change.outputs).toEqual({ id, url: "https://store.example.com" });

      stack.emulator.edit(id, { description: "edited by hand" });
      const refresh = await stack.refresh();
      expect(refresh.steps).toMatchObject([{ op: "update", diff: ["~description"] }]);
      expect(methods(refresh)).toEqual(["GET"]);
      const repair = await stack.up();
      expect(writes(repair).map(({ body }) => body)).toEqual([{ id, description: "front door" }]);

      edit(stack, shop("tls://store.example.com", policy(403)));
      const replacement = await stack.up();
      expect(methods(replacement)).toEqual(["DELETE", "POST"]);
      expect(replacement.changes).toMatchObject({ replace: 1 });
      expect(replacement.outputs["id"]).not.toBe(id);

      expect(methods(await stack.destroy())).toEqual(["DELETE"]);
      expect(stack.emulator.endpoints).toEqual([]);
    });
  });
}
