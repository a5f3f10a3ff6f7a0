import { expect, test } from "vitest";
import { methods, onBothDrivers } from "./setup";

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
});
