import { expect, onTestFinished, test } from "vitest";
import { TestStack } from "../../sdk/testing";
import { copyOf } from "./example";
import { edit, methods, onBothDrivers } from "./setup";

onBothDrivers("the example lookup", (_, driver) => {
  test("lists what agents and edges serve, and puts a cloud endpoint before an agent's", async () => {
    const stack = await TestStack.create({ program: copyOf("lookup"), driver });
    onTestFinished(() => stack.close());
    const backend = stack.emulator.seed({
      type: "ephemeral",
      url: "https://shop.internal",
      upstream_url: "http://localhost:8080",
    });
    const edge = stack.emulator.seed({ type: "edge", public_url: "tls://edge.example.com" });
    const up = await stack.up({ skipPreview: true });
    expect(up.outputs).toEqual({
      url: "https://shop.example.com",
      table: [
        { id: edge.id, type: "edge", url: "tls://edge.example.com", servedBy: edge.edge?.id },
        {
          id: backend.id,
          type: "ephemeral",
          url: "https://shop.internal",
          servedBy: "http://localhost:8080",
        },
      ],
    });
    // The two lookups start together, and share one list.
    expect(methods(up)).toEqual(["GET", "POST"]);
    expect(stack.emulator.endpoints[0]).toMatchObject({ description: `in front of ${backend.id}` });
    await stack.preview({ expectNoChanges: true });
    await stack.destroy();
  });
});

onBothDrivers("data sources", (start) => {
  const program = `
const { getEndpointOutput, getEndpointsOutput } = require("pulumi-endpoints");
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com" });
module.exports = {
  found: getEndpointOutput({ url: shop.url }).id,
  behind: getEndpointsOutput({ types: ["cloud"] }, { dependsOn: [shop] }).ids,
  hidden: getEndpointOutput({ id: pulumi.secret("ep_theirs") }).publicUrl,
};`;

  test("wait for what is still to be created, and then show it; secrets that go in come out marked", async () => {
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

  test("that find nothing fail the program in one line that says how to go on", async () => {
    const stack = await start(
      `require("pulumi-endpoints").getEndpoint({ url: "https://nobody.example.com" });`,
    );
    await expect(stack.preview()).rejects.toThrow(
      /no endpoint of the 0 of this account serves https:\/\/nobody.*getEndpoints\(\)/,
    );
    edit(stack, `require("pulumi-endpoints").getEndpoint({ id: "ep_2nobody" });`);
    await expect(stack.preview()).rejects.toThrow(/there is no endpoint ep_2nobody/);
  });
});
