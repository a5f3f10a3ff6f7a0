import { expect, test } from "vitest";
import { UNKNOWN } from "../../provider/endpoint/documents";
import { edit, methods, onBothDrivers, writes } from "./setup";

onBothDrivers("an unknown value", (start) => {
  const program = `
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
new CloudEndpoint("second", {
  url: first.publicUrl.apply((url) => url.replace("first", "second")),
  trafficPolicy: { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: first.createdAt } }] }] },
  metadata: pulumi.jsonStringify({ behind: first.id }),
});`;

  test("is shown as unknown by a preview, in a policy too", async () => {
    const stack = await start(program);
    const preview = await stack.preview({ diff: true });
    expect(preview.text).toContain("[unknown]");
    expect(preview.text).not.toContain(UNKNOWN);
    const up = await stack.up();
    expect(methods(up)).toEqual(["POST", "POST"]);
    expect(JSON.stringify(up.requests)).not.toContain(UNKNOWN);
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
  });

  test("from a resource that changes causes an update of the other resource, and no replacement", async () => {
    const stack = await start(program);
    await stack.up();
    edit(stack, program.replace("//first.", "//first2."));
    const preview = await stack.preview();
    expect(preview.changes["replace"]).toBeUndefined();
    await stack.up();
    await stack.refresh({ expectNoChanges: true });
  });
});

onBothDrivers("options", (start) => {
  test("ignoreChanges on a path in a policy keeps the live value there, and the rest can change", async () => {
    const program = (z: number, a: number) => `
new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: { a: ${a}, list: [{ z: ${z} }] } }, { ignoreChanges: ["trafficPolicy.list[0].z"] });`;
    const stack = await start(program(1, 1));
    await stack.up();
    edit(stack, program(2, 1));
    await stack.up({ expectNoChanges: true });
    edit(stack, program(2, 3));
    expect(writes(await stack.up()).map(({ body }) => body)).toEqual([
      { id: expect.any(String), traffic_policy: '{"a":3,"list":[{"z":1}]}' },
    ]);
    stack.emulator.edit(stack.emulator.endpoints[0]?.id ?? "", {
      traffic_policy: '{"a":3,"list":[{"z":4}]}',
    });
    await stack.refresh();
    await stack.up({ expectNoChanges: true });
  });
});

onBothDrivers("CloudEndpoint.get", (start) => {
  test("reads an endpoint that the stack does not manage, and sends no write", async () => {
    const stack = await start(`
const theirs = CloudEndpoint.get("theirs", "ep_theirs");
module.exports = { url: theirs.publicUrl, policy: theirs.trafficPolicy, edge: theirs.edge };`);
    stack.emulator.seed({
      type: "cloud",
      id: "ep_theirs",
      url: "https://theirs.example.com",
      traffic_policy: '{"a":1}',
    });
    const up = await stack.up();
    expect(up.outputs).toMatchObject({ url: "https://theirs.example.com", policy: '{"a":1}' });
    await stack.destroy();
    expect(writes({ ...up, requests: [...stack.emulator.requests] })).toEqual([]);
    expect(stack.emulator.endpoints).toHaveLength(1);
  });
});

onBothDrivers("the state", (start) => {
  test("has at most 256 bytes for each resource beyond the inputs and the service's fields", async () => {
    const stack = await start(`new CloudEndpoint("shop", {
  url: "https://shop.example.com", trafficPolicy: { a: 1 }, description: "d", metadata: { m: 1 }, bindings: ["public"],
  poolingEnabled: true, adopt: true,
});`);
    await stack.up();
    const resource = (await stack.exportState()).deployment.resources?.find(({ urn }) =>
      urn.endsWith("::shop"),
    );
    const { __provider, ...given } = resource?.inputs ?? {};
    const { __provider: again, __given, adopt } = resource?.outputs ?? {};
    const bytes = JSON.stringify([{ __provider }, { __provider: again, __given, adopt }]).length;
    expect(given).toMatchObject({ adopt: true, poolingEnabled: true });
    expect(again).toBe(__provider);
    expect(bytes).toBeLessThanOrEqual(256);
  });
});
