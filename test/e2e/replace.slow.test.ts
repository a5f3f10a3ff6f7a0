import { expect, test } from "vitest";
import { edit, methods, onBothDrivers } from "./setup";

const shop = (scheme: string, options = "", inputs = "") => `
const shop = new CloudEndpoint("shop", { url: "${scheme}://shop.example.com", ${inputs} }, { ${options} });
module.exports = { id: shop.id };
`;

onBothDrivers("a replacement", (start) => {
  test("creates first if the program asks for that", async () => {
    const stack = await start(shop("https", "deleteBeforeReplace: false"));
    await stack.up();
    edit(stack, shop("tls", "deleteBeforeReplace: false"));
    expect(methods(await stack.up())).toEqual(["POST", "DELETE"]);
    expect(stack.emulator.endpoints.map((endpoint) => endpoint.url)).toEqual(["tls://shop.example.com"]);
  });

  test("that is forced deletes first, although the engine does not ask the provider", async () => {
    const stack = await start(shop("https"));
    const before = await stack.up();
    const after = await stack.up({ replace: ["shop"] });
    expect(methods(after)).toEqual(["DELETE", "POST"]);
    expect(stack.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([after.outputs["id"]]);
    expect(after.outputs["id"]).not.toBe(before.outputs["id"]);
  });

  test("that is forced on an adopted endpoint leaves one endpoint, which is in the state", async () => {
    const stack = await start(shop("https", "", "adopt: true"));
    const seeded = stack.emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    expect((await stack.up()).outputs["id"]).toBe(seeded.id);
    const after = await stack.up({ replace: ["shop"] });
    expect(methods(after).filter((method) => method !== "GET")).toEqual(["DELETE", "POST"]);
    expect(stack.emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([after.outputs["id"]]);
    await stack.refresh({ expectNoChanges: true });
  });

  test("that would create first is refused with `adopt`, before any write", async () => {
    const stack = await start(shop("https", "deleteBeforeReplace: false", "adopt: true"));
    stack.emulator.seed({ type: "cloud", url: "https://shop.example.com" });
    await expect(stack.up({ skipPreview: false })).rejects.toThrow(
      /adopt together with deleteBeforeReplace: false/,
    );
    expect(stack.emulator.requests.filter((request) => request.method !== "GET")).toEqual([]);
  });
});
