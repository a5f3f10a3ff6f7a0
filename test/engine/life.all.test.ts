import { expect, test } from "vitest";
import { life } from "./life";
import { edit, methods, onBothDrivers, writes } from "./setup";

const POLICY = `{ on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] }`;
const shop = (inputs: string, options = "{}") => `
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", ${inputs} }, ${options});
module.exports = { id: shop.id, url: shop.publicUrl };
`;

/* On the plugin it is part of `npm test`, as is the demo, which plays much of it on the dynamic provider. */
life("dynamic");

onBothDrivers("an endpoint", (start) => {
  test("sends exactly the input that the program changed", async () => {
    const stack = await start(shop(`trafficPolicy: ${POLICY}`));
    const created = await stack.up();
    for (const [inputs, diff, body] of [
      [`trafficPolicy: ${POLICY}, description: "a"`, ["+description"], { description: "a" }],
      [`trafficPolicy: ${POLICY}, description: "b"`, ["~description"], { description: "b" }],
      [`trafficPolicy: {}, description: "b"`, ["~trafficPolicy"], { traffic_policy: "{}" }],
      [`trafficPolicy: {}, description: "b", metadata: "m"`, ["+metadata"], { metadata: "m" }],
      [
        `trafficPolicy: {}, description: "b", bindings: ["internal"]`,
        ["+bindings", "-metadata"],
        { bindings: ["internal"], metadata: "" },
      ],
      [
        `trafficPolicy: {}, bindings: ["internal"], poolingEnabled: true`,
        ["+poolingEnabled", "-description"],
        { pooling_enabled: true, description: "" },
      ],
    ] as const) {
      edit(stack, shop(inputs));
      const up = await stack.up();
      expect(up.steps.map(({ op, diff }) => ({ op, diff }))).toEqual([{ op: "update", diff }]);
      expect(writes(up).map((request) => request.body)).toEqual([{ id: created.outputs["id"], ...body }]);
      await stack.refresh({ expectNoChanges: true });
      await stack.preview({ expectNoChanges: true });
    }
  });

  test("keeps nulls inside its documents", async () => {
    const stack = await start(shop(`metadata: { a: null, b: [null, 1] }, trafficPolicy: { c: { d: null } }`));
    await stack.up();
    expect(stack.emulator.endpoints[0]).toMatchObject({
      metadata: '{"a":null,"b":[null,1]}',
      traffic_policy: '{"c":{"d":null}}',
    });
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
  });
});

onBothDrivers("fifty endpoints", (start) => {
  test("are created at once, each once, and stay as they are", async () => {
    const stack = await start(`
for (let i = 0; i < 50; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com", description: "number " + i });`);
    expect(methods(await stack.up())).toEqual(Array(50).fill("POST"));
    expect(new Set(stack.emulator.endpoints.map((endpoint) => endpoint.url)).size).toBe(50);
    await stack.refresh({ expectNoChanges: true });
    expect(writes(await stack.up({ expectNoChanges: true }))).toEqual([]);
    await stack.destroy();
    expect(stack.emulator.endpoints).toEqual([]);
  });
});
