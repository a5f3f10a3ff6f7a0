import { expect, onTestFinished, test } from "vitest";
import { TYPES } from "../../provider/api/typeTokens";
import { Emulator } from "../../sdk/testing";
import { methods, onBothDrivers, plainIn } from "./setup";

const shop = `
const shop = new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  description: "front door",
  trafficPolicy: { on_http_request: [{ actions: [{ type: "custom-response", config: { body: pulumi.secret("CANARY") } }] }] },
});
module.exports = { id: shop.id, is: CloudEndpoint.isInstance(shop) };`;

onBothDrivers("the class on two providers", (start) => {
  test("a stack moves to the plugin without a change, and back with an update that sends no request", async () => {
    const stack = await start(shop);
    const { outputs } = await stack.up();
    const typesIn = async () =>
      ((await stack.exportState()).deployment.resources ?? [])
        .map(({ type }) => type)
        .filter((type) => type.includes("CloudEndpoint"));

    await stack.setConfig("endpoints:provider", "plugin");
    const there = await stack.up({ expectNoChanges: true });
    expect(there.outputs).toEqual(outputs);
    expect(there.requests).toEqual([]);
    expect(await typesIn()).toEqual([TYPES.plugin]);
    await stack.refresh({ expectNoChanges: true });

    await stack.setConfig("endpoints:provider", "dynamic");
    const back = await stack.up();
    expect(back.requests).toEqual([]);
    expect(back.outputs).toEqual(outputs);
    expect(await typesIn()).toEqual([TYPES.dynamic]);
    await stack.refresh({ expectNoChanges: true });
    expect(plainIn(await stack.exportState())).not.toContain("CANARY");
    expect(methods(await stack.destroy())).toEqual(["DELETE"]);
  });

  test("an explicit provider selects another account for resources, children and data sources, and may be unknown in a preview", async () => {
    const other = await Emulator.start();
    onTestFinished(() => other.close());
    other.seed({ type: "cloud", url: "https://old.example.com", metadata: '{"team":"shop"}' });
    const program = `
const { Provider, getEndpoint, getEndpoints, getEndpointsOutput } = require("pulumi-endpoints");
const account = { baseUrl: "${other.baseUrl}", apiKey: "${other.apiKey}", requestsPerWindow: 1000 };
const provider = new Provider("theirs", account);
const same = { url: "https://shop.example.com" };
const mine = new CloudEndpoint("mine", same);
const there = new CloudEndpoint("theirs", same, { provider });
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super("case:index:Shop", name, {}, options);
    new CloudEndpoint(name, { url: "https://child.example.com" }, { parent: this });
  }
}
const component = new Shop("child", { providers: { endpoints: provider } });
const late = new Provider("late", { ...account, baseUrl: mine.id.apply(() => account.baseUrl) });
module.exports = async () => ({
  old: (await getEndpoint({ url: "https://old.example.com" }, { provider })).url,
  mine: (await getEndpoints()).endpoints.filter(({ url }) => url !== "https://shop.example.com").length,
  judged: (await getEndpoints({ metadata: (m) => m?.team === "shop" }, { provider })).ids.length,
  edges: getEndpointsOutput({ types: ["edge"] }, { provider: late }).ids.length,
  all: getEndpointsOutput({}, { provider, dependsOn: [there, component] }).ids.length,
});`;
    const stack = await start(program, { env: { ENDPOINTS_API_KEY: "of-nobody" } });
    expect((await stack.preview()).text).toMatch(/edges *: \[unknown\]/);
    expect(new Set(methods(other))).toEqual(new Set(["GET"]));
    const { outputs } = await stack.up();
    expect(outputs).toEqual({ old: "https://old.example.com", mine: 0, judged: 1, edges: 0, all: 3 });
    expect(stack.emulator.endpoints.map(({ url }) => url)).toEqual(["https://shop.example.com"]);
    const theirs = ["child", "old", "shop"].map((name) => `https://${name}.example.com`);
    expect(other.endpoints.map(({ url }) => url).sort()).toEqual(theirs);
    expect(plainIn(await stack.exportState())).not.toContain(other.apiKey);
    await stack.destroy();
    expect(other.endpoints.map(({ url }) => url)).toEqual(["https://old.example.com"]);
  });
});
