import { expect, test } from "vitest";
import { methods, onBothDrivers } from "./setup";

/* The one program with endpoints that the fast tests run. Scenarios run as stacks among the slow tests. */

const program = `
const { Provider } = require("pulumi-endpoints");
const shop = (name, options) => new CloudEndpoint(name, { url: "https://" + name + ".example.com" }, options);
const [dynamic, plugin] = [shop("dynamic"), shop("plugin", { provider: new Provider("account") })];
module.exports = { ids: [dynamic.id, plugin.id], urls: [dynamic.publicUrl, plugin.publicUrl] };
`;

onBothDrivers("an endpoint of each provider", (start) => {
  test("is created, unchanged and deleted with one request for each step", async () => {
    const stack = await start(program);
    const up = await stack.up();
    expect(up.outputs).toEqual({
      ids: [expect.stringMatching(/^ep_/), expect.stringMatching(/^ep_/)],
      urls: ["https://dynamic.example.com", "https://plugin.example.com"],
    });
    expect(methods(up)).toEqual(["POST", "POST"]);
    expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);
    expect(methods(await stack.destroy())).toEqual(["DELETE", "DELETE"]);
    expect(stack.emulator.endpoints).toEqual([]);
  });
});
