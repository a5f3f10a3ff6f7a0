import { expect, test } from "vitest";
import { edit, onBothDrivers, writes } from "./setup";

const POLICY = `{ on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] }`;
const shop = (inputs: string) => `
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", ${inputs} });
module.exports = { id: shop.id, url: shop.publicUrl };
`;

onBothDrivers("an update", (start) => {
  test("sends exactly the changed inputs, and shows them with Pulumi's signs", async () => {
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
      const up = await stack.up({ skipPreview: true });
      expect(up.steps.map(({ op, diff }) => ({ op, diff }))).toEqual([{ op: "update", diff }]);
      expect(writes(up).map((request) => request.body)).toEqual([{ id: created.outputs["id"], ...body }]);
    }
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
  });

  test("is not planned for nulls in a document, which the service receives", async () => {
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
