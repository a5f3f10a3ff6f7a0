import { expect, test } from "vitest";
import { edit, methods, onBothDrivers, writes } from "./setup";

onBothDrivers("adoption", (start) => {
  const program = (adopt: string) => `
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", description: "new", trafficPolicy: { a: 1 }, ${adopt} }, { retainOnDelete: true });
module.exports = { id: shop.id };`;

  test("updates a live endpoint, lists the changes in the preview, and can be removed from the program later", async () => {
    const stack = await start(program("adopt: true"));
    const { id } = stack.emulator.seed({
      type: "cloud",
      url: "https://shop.example.com",
      description: "old",
      traffic_policy: '{"a": 1}',
    });
    const preview = await stack.preview();
    expect(preview.text).toMatch(new RegExp(`adopts ${id}, and changes description`));
    expect(writes(preview)).toEqual([]);

    const up = await stack.up();
    expect(up.outputs["id"]).toBe(id);
    expect(writes(up).map(({ body }) => body)).toEqual([{ id, description: "new" }]);
    await stack.refresh({ expectNoChanges: true });
    edit(stack, program(""));
    expect(methods(await stack.up({ expectNoChanges: true }))).toEqual([]);
  });
});
