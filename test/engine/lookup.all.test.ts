import { expect, test } from "vitest";
import { edit, methods, onBothDrivers } from "./setup";

onBothDrivers("data sources", (start) => {
  const program = `
const { getEndpointOutput, getEndpointsOutput } = require("pulumi-endpoints");
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com" });
module.exports = {
  found: getEndpointOutput({ url: shop.url }).id,
  behind: getEndpointsOutput({ types: ["cloud"] }, { dependsOn: [shop] }).ids,
  hidden: getEndpointOutput({ id: pulumi.secret("ep_theirs") }).publicUrl,
};`;

  test("wait for new endpoints, and return secrets for secret arguments", async () => {
    const stack = await start(program);
    stack.emulator.seed({ type: "edge", id: "ep_theirs", public_url: "tls://CANARY.example.com" });
    const preview = await stack.preview();
    expect(methods(preview)).toEqual(["GET"]);
    expect(preview.text).toMatch(/found *: \[unknown\]/);
    const up = await stack.up();
    const { id } = stack.emulator.endpoints[0] ?? {};
    expect(up.outputs).toMatchObject({ found: id, behind: [id], hidden: "tls://CANARY.example.com" });
    expect(up.text).not.toContain("CANARY");
  });

  test("fail with the next step if no endpoint matches", async () => {
    const stack = await start(
      `require("pulumi-endpoints").getEndpoint({ url: "https://nobody.example.com" });`,
    );
    await expect(stack.preview()).rejects.toThrow(
      /no endpoint of the 0 of this account serves https:\/\/nobody.*getEndpoints\(\)/,
    );
    edit(stack, `require("pulumi-endpoints").getEndpoint({ id: "ep_2nobody" });`);
    await expect(stack.preview()).rejects.toThrow(/there is no endpoint ep_2nobody; getEndpoints\(\) lists/);
  });
});
