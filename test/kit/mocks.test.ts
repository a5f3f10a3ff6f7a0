import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test, vi } from "vitest";
import { canonicalJson } from "../../provider/data/index";
import { CloudEndpoint, getEndpoint, getEndpoints, getEndpointsOutput, Provider } from "../../sdk";
import { Emulator, type EndpointMocksOptions, endpointMocks } from "../../sdk/testing";
import { resolved } from "../sdk/program";

const policy = { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] };

/** The outputs of a resource by name. */
async function outputsOf(endpoint: CloudEndpoint): Promise<Record<string, unknown>> {
  const outputs = Object.entries(endpoint).filter(([, value]) => pulumi.Output.isInstance(value));
  return resolved(pulumi.output(Object.fromEntries(outputs)));
}

async function mocked(options: EndpointMocksOptions = {}, preview = false) {
  const mocks = endpointMocks(options);
  await pulumi.runtime.setMocks(mocks, "shop", "dev", preview);
  return mocks;
}

const registered = (type: string, name: string, inputs: object) =>
  ({ type, name, inputs, custom: true, provider: "" }) as pulumi.runtime.MockResourceArgs;
const cloud = (inputs: object) => registered("endpoints:index:CloudEndpoint", "shop", inputs);

describe("endpointMocks", () => {
  test("gives a resource the same outputs as the emulator", async () => {
    const mocks = await mocked();
    const shop = new CloudEndpoint("shop", {
      url: "HTTPS://Shop.example.com:443/",
      trafficPolicy: pulumi.secret(policy),
      description: "front door",
    });
    const outputs = await outputsOf(shop);
    expect(outputs).toMatchObject({
      url: "https://shop.example.com",
      hostport: "shop.example.com:443",
      bindings: ["public"],
      trafficPolicy: canonicalJson(policy),
      domain: { id: expect.stringMatching(/^rd_/) },
    });
    expect(await pulumi.isSecret(shop.trafficPolicy)).toBe(true);
    expect(await pulumi.isSecret(shop.hostport)).toBe(false);
    expect(mocks.endpoints).toMatchObject([{ id: outputs["id"], description: "front door" }]);

    await using emulator = await Emulator.start();
    const { url } = outputs;
    const seed = emulator.seed({ type: "cloud", url: `${url}`, traffic_policy: "{}", description: "x" });
    expect(Object.keys(mocks.endpoints[0] ?? {}).sort()).toEqual(Object.keys(seed).sort());
  });

  test.each(["dynamic", "plugin"])(
    "lets a program adopt and read existing endpoints (%s)",
    async (provider) => {
      vi.stubEnv("ENDPOINTS_PROVIDER", provider);
      const [url, other] = ["https://shop.example.com", "https://api.example.com"];
      const mocks = await mocked({
        endpoints: [
          { type: "cloud", id: "ep_shop", url, description: "by hand" },
          { type: "cloud", id: "ep_api", url: other, metadata: '{"team":"api"}' },
        ],
      });
      const shop = new CloudEndpoint("shop", { url, adopt: "ep_shop" });
      expect(await resolved(shop.id)).toBe("ep_shop");
      expect(mocks.endpoints.find(({ id }) => id === "ep_shop")).not.toHaveProperty("description");
      const api = CloudEndpoint.get("api", "ep_api");
      expect(await outputsOf(api)).toMatchObject({ url: other, metadata: '{"team":"api"}' });
      vi.unstubAllEnvs();
    },
  );

  test("lets data sources find existing endpoints and those of the program", async () => {
    await mocked({ endpoints: [{ type: "ephemeral", url: "https://shop.internal", name: "backend" }] });
    expect(await getEndpoint({ url: "https://shop.internal" })).toMatchObject({ name: "backend" });
    await expect(getEndpoint({ url: "https://other.internal" })).rejects.toThrow(
      "no endpoint of the 1 of this account serves https://other.internal",
    );
    const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", metadata: { team: "shop" } });
    const all = await resolved(getEndpointsOutput({}, { dependsOn: shop }));
    expect(all.endpoints).toMatchObject([{ publicUrl: "https://shop.example.com" }, { name: "backend" }]);
    const provider = new Provider("theirs", { apiKey: "k", baseUrl: "https://api.example.com" });
    const found = await getEndpoints({ metadata: { team: "shop" } }, { provider });
    expect(found.ids).toEqual([await resolved(shop.id)]);
  });

  test("rejects inputs that the service or the provider would refuse, and gives no id for an unknown URL", async () => {
    const mocks = await mocked({ endpoints: [{ type: "cloud", url: "https://shop.example.com" }] }, true);
    await expect(mocks.newResource(cloud({ url: "https://shop.example.com" }))).rejects.toThrow(/18017/);
    const bad = cloud({ url: "shop.example.com", description: "x".repeat(256) });
    await expect(mocks.newResource(bad)).rejects.toThrow(/shop: .*scheme.*; .*255/);
    expect(await mocks.newResource(cloud({}))).toEqual({ id: "", state: {} });
  });

  test("passes the resources and functions of other packages to the given mocks", async () => {
    const newResource = ({ name }: { name: string }) => ({ id: `bucket ${name}`, state: { arn: "arn:1" } });
    const mocks = await mocked({ others: { newResource, call: () => ({ region: "eu" }) } });
    const args = registered("aws:s3:Bucket", "b", { x: 1 });
    const call = { token: "aws:getRegion", inputs: {} } as pulumi.runtime.MockCallArgs;
    expect(await mocks.newResource(args)).toEqual({ id: "bucket b", state: { arn: "arn:1" } });
    expect(await mocks.call(call)).toEqual({ region: "eu" });
    expect(await endpointMocks().newResource(args)).toEqual({ id: "b_id", state: { x: 1 } });
  });
});
