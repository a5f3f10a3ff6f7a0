import { expect, test } from "vitest";
import { snapshotOf } from "../../sdk/testing";
import { edit, onBothDrivers } from "./setup";

const POLICY = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const program = (description: string) => `
const trafficPolicy = ${JSON.stringify(POLICY)};
const api = new CloudEndpoint("api", { url: "https://api.example.com", trafficPolicy });
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy, description: "${description}" });
module.exports = { created: shop.createdAt, uri: pulumi.interpolate\`\${shop.uri} of \${api.id}\` };
`;

onBothDrivers("a result", (start) => {
  test("has the same snapshot in every run, without times, ids and ports", async () => {
    const [first, second] = [await start(program("front door")), await start(program("front door"))];
    const snapshot = snapshotOf(await first.up());
    expect(snapshotOf(await second.up())).toEqual(snapshot);
    expect(snapshot).toMatchObject({
      command: "up",
      ok: true,
      outputs: {
        created: "[time]",
        uri: "http://127.0.0.1:[port]/endpoints/[id of shop] of [id of api]",
      },
      changes: { create: 3 },
      steps: [
        { op: "create", name: "api", diff: [], outputs: { domain: { id: "[id]" } } },
        { op: "create", name: "shop", diff: [], outputs: { createdAt: "[time]" } },
      ],
      requests: [
        { method: "POST", path: "/endpoints", body: { description: "front door" }, status: 201 },
        { method: "POST", path: "/endpoints", body: { url: "https://api.example.com" }, status: 201 },
      ],
    });
    edit(first, program("back door"));
    expect(snapshotOf(await first.up()).requests).toEqual([
      {
        method: "PATCH",
        path: "/endpoints/[id of shop]",
        body: { id: "[id of shop]", description: "back door" },
        status: 200,
      },
    ]);
  });

  test("with unexpected changes fails with their names", async () => {
    const stack = await start(program("front door"));
    await expect(stack.preview({ expectNoChanges: true })).rejects.toThrow(
      /no changes were expected.*: create (api, create shop|shop, create api)$/,
    );
    await stack.up();
    edit(stack, program("back door"));
    await expect(stack.preview({ expectNoChanges: true })).rejects.toThrow(
      /no changes were expected.*: update shop \(~description\)$/,
    );
  });
});
