import { expect, onTestFinished, test } from "vitest";
import { Emulator } from "../../sdk/testing";
import { edit, errors, failure, methods, onBothDrivers, plainIn, writes } from "./setup";

const TYPE = "endpoints:index:CloudEndpoint";
const SDK = `const { Provider, getEndpoint, getEndpointOutput, getEndpoints, getEndpointsOutput } = require("pulumi-endpoints");`;
const shop = (name = "shop", options = "") => `
const shop = new CloudEndpoint("${name}", {
  url: "https://shop.example.com",
  description: "front door",
  trafficPolicy: { on_http_request: [{ actions: [{ type: "custom-response", config: { body: pulumi.secret("CANARY") } }] }] },
}, { ${options} });
module.exports = { id: shop.id, is: CloudEndpoint.isInstance(shop) };`;

onBothDrivers("the class on two providers", (start, driver) => {
  test("a stack moves to the plugin without a change, and back with an update that sends no request", async () => {
    const stack = await start(shop());
    const { id } = (await stack.up()).outputs;
    const typesIn = async () =>
      ((await stack.exportState()).deployment.resources ?? [])
        .map(({ type }) => type)
        .filter((type) => type.includes("CloudEndpoint"));

    await stack.setConfig("endpoints:provider", "plugin");
    await stack.preview({ expectNoChanges: true });
    const there = await stack.up({ expectNoChanges: true });
    expect(there.outputs).toEqual({ id, is: true });
    expect(there.requests).toEqual([]);
    expect(await typesIn()).toEqual([TYPE]);
    await stack.refresh({ expectNoChanges: true });
    stack.emulator.edit(String(id), { description: "edited" });
    await stack.refresh();
    expect(methods(await stack.up())).toEqual(["PATCH"]);

    await stack.setConfig("endpoints:provider", "dynamic");
    const back = await stack.up();
    expect(back.requests).toEqual([]);
    expect(back.outputs["id"]).toBe(id);
    expect(await typesIn()).toEqual(["pulumi-nodejs:dynamic/endpoints:CloudEndpoint"]);
    await stack.refresh({ expectNoChanges: true });
    await stack.up({ expectNoChanges: true });
    expect(plainIn(await stack.exportState())).not.toContain("CANARY");
    expect(methods(await stack.destroy())).toEqual(["DELETE"]);
  });

  test("an explicit provider selects another account for resources, children and data sources", async () => {
    const other = await Emulator.start();
    onTestFinished(() => other.close());
    other.seed({ type: "cloud", url: "https://old.example.com", metadata: '{"team":"shop"}' });
    const program = `${SDK}
const theirs = new Provider("theirs", { baseUrl: "${other.baseUrl}", apiKey: "${other.apiKey}", requestsPerWindow: 1000 });
const same = { url: "https://shop.example.com" };
new CloudEndpoint("mine", same);
const there = new CloudEndpoint("theirs", same, { provider: theirs });
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super("case:index:Shop", name, {}, options);
    new CloudEndpoint(name, { url: "https://child.example.com" }, { parent: this });
  }
}
const component = new Shop("child", { providers: { endpoints: theirs } });
const options = { provider: theirs };
module.exports = async () => ({
  old: (await getEndpoint({ url: "https://old.example.com" }, options)).url,
  mine: (await getEndpoints()).endpoints.filter(({ url }) => url !== "https://shop.example.com").length,
  judged: (await getEndpoints({ metadata: (m) => m?.team === "shop" }, options)).ids.length,
  made: getEndpointOutput({ id: there.id }, options).url,
  all: getEndpointsOutput({}, { ...options, dependsOn: [there, component] }).ids.length,
});`;
    const stack = await start(program, { env: { ENDPOINTS_API_KEY: "of-nobody" } });
    await stack.preview();
    expect(methods(other)).toContain("GET");
    const up = await stack.up();
    expect(stack.emulator.endpoints.map(({ url }) => url)).toEqual(["https://shop.example.com"]);
    expect(other.endpoints.map(({ url }) => url).sort()).toEqual(
      ["child", "old", "shop"].map((name) => `https://${name}.example.com`),
    );
    expect(up.outputs).toEqual({
      old: "https://old.example.com",
      mine: 0,
      judged: 1,
      made: "https://shop.example.com",
      all: 3,
    });
    expect(plainIn(await stack.exportState())).not.toContain(other.apiKey);
    await stack.destroy();
    expect(other.endpoints.map(({ url }) => url)).toEqual(["https://old.example.com"]);
  });

  test("refresh and destroy use an explicit provider's key in the state, which the next up renews", async () => {
    const other = await Emulator.start();
    onTestFinished(() => other.close());
    const program = `${SDK}
const apiKey = new pulumi.Config().requireSecret("key");
const theirs = new Provider("theirs", { baseUrl: "${other.baseUrl}", apiKey });
new CloudEndpoint("shop", { url: "https://shop.example.com" }, { provider: theirs });`;
    const stack = await start(program);
    const setKey = (key: string) => stack.setConfig("case:key", { secret: key });
    await setKey(other.apiKey);
    await stack.up();
    await setKey("of_nobody");
    await stack.refresh({ expectNoChanges: true });
    await stack.up();
    expect(errors(await failure(stack.refresh())).join()).toMatch(/The API key was refused/);
    await setKey(other.apiKey);
    await stack.up();
    await setKey("of_nobody");
    await stack.destroy();
    expect(other.endpoints).toEqual([]);
  });

  test("a data source of an unknown account is unknown in the preview", async () => {
    const other = await Emulator.start();
    onTestFinished(() => other.close());
    other.seed({ type: "cloud", url: "https://old.example.com" });
    const program = `${SDK}
const mine = new CloudEndpoint("mine", { url: "https://mine.example.com" });
const baseUrl = mine.id.apply(() => "${other.baseUrl}");
const theirs = new Provider("theirs", { baseUrl, apiKey: "${other.apiKey}" });
module.exports = { ids: getEndpointsOutput({}, { provider: theirs }).ids.apply((ids) => ids.length) };`;
    const stack = await start(program);
    await stack.preview();
    expect((await stack.up()).outputs).toEqual({ ids: 1 });
    await stack.destroy();
  });

  test("an option that needs the plugin fails the dynamic provider's preview with the advice to use it", async () => {
    const stack = await start(shop("shop", 'import: "ep_1"'));
    expect(errors(await failure(stack.preview())).join()).toMatch(
      /the option import needs the plugin.*endpoints:provider plugin/s,
    );
    edit(stack, shop("shop", 'replaceOnChanges: ["description"]'));
    expect(errors(await failure(stack.preview())).join()).toMatch(
      /the option replaceOnChanges needs the plugin.*endpoints:provider plugin/s,
    );
    expect(stack.emulator.requests).toEqual([]);
    await stack.setConfig("endpoints:provider", "both");
    expect(errors(await failure(stack.preview())).join()).toMatch(/it can be dynamic or plugin/);
  });

  test.runIf(driver === "cli")(
    "an imported endpoint belongs to the class's resource without a change",
    async () => {
      const stack = await start(shop());
      const policy = {
        on_http_request: [{ actions: [{ type: "custom-response", config: { body: "CANARY" } }] }],
      };
      const { id } = stack.emulator.seed({
        type: "cloud",
        url: "https://shop.example.com",
        description: "front door",
        traffic_policy: JSON.stringify(policy),
      });
      await stack.import([{ type: TYPE, name: "shop", id }], { protect: false });
      expect(writes(await stack.up())).toEqual([]);
      expect(stack.emulator.endpoints).toHaveLength(1);
      await stack.destroy();
    },
  );
});
