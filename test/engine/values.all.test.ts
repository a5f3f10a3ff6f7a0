import { expect, test } from "vitest";
import { UNKNOWN } from "../../provider/document";
import { edit, methods, onBothDrivers, writes } from "./setup";

/** A value that no state, output or message may hold in plain. */
const CANARY = "CANARY-3f1c";

onBothDrivers("an unknown value", (start) => {
  const program = `
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
new CloudEndpoint("second", {
  url: first.publicUrl.apply((url) => url.replace("first", "second")),
  trafficPolicy: { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: first.createdAt } }] }] },
  metadata: pulumi.jsonStringify({ behind: first.id }),
});`;

  test("passes the preview, inside a policy too, and is shown as unknown", async () => {
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

  test("of a resource that is to be updated reaches the other as an update, never as a replacement", async () => {
    const stack = await start(program);
    await stack.up();
    edit(stack, program.replace("//first.", "//first2."));
    const preview = await stack.preview();
    expect(preview.changes["replace"]).toBeUndefined();
    await stack.up();
    await stack.refresh({ expectNoChanges: true });
  });
});

onBothDrivers("a secret", (start) => {
  const program = `
const key = pulumi.secret("${CANARY}");
const shop = new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  trafficPolicy: { on_http_request: [{ actions: [{ type: "verify-webhook", config: { provider: "github", secret: key } }] }] },
});
module.exports = { policy: shop.trafficPolicy, key };`;

  test("reaches the service, and nothing that is printed; the state marks it", async () => {
    const stack = await start(program);
    const runs = [await stack.preview({ diff: true }), await stack.up(), await stack.refresh({ diff: true })];
    stack.emulator.edit(stack.emulator.endpoints[0]?.id ?? "", { traffic_policy: `{"secret":"${CANARY}2"}` });
    runs.push(await stack.refresh({ diff: true }), await stack.up({ diff: true }), await stack.destroy());
    for (const run of runs) {
      expect(run.text).not.toContain(CANARY);
      expect(JSON.stringify(run.diagnostics)).not.toContain(CANARY);
    }
    expect(JSON.stringify(stack.emulator.requests)).toContain(CANARY);
  });

  test("is kept as a marked secret in inputs and outputs", async () => {
    const stack = await start(program);
    await stack.up();
    const resource = (await stack.exportState()).deployment.resources?.find(({ urn }) =>
      urn.endsWith("::shop"),
    );
    expect(Object.keys(resource?.outputs?.["trafficPolicy"] as object)).toContain(
      "4dabf18193072939515e22adb298388d",
    );
    for (const side of [resource?.inputs, resource?.outputs]) {
      const { trafficPolicy, ...rest } = side ?? {};
      expect(JSON.stringify(rest)).not.toContain(CANARY);
      expect(Object.keys(unwrapped(trafficPolicy))).toContain("4dabf18193072939515e22adb298388d");
    }
  });

  test("key of the account is in no state and no output", async () => {
    const stack = await start(program);
    const up = await stack.up();
    const key = stack.emulator.apiKey;
    const { resources = [] } = (await stack.exportState()).deployment;
    const users = resources.filter(({ type }) => !type.startsWith("pulumi:providers:"));
    expect(JSON.stringify(users)).not.toContain(key);
    expect(up.text).not.toContain(key);
  });
});

/** The engine marks the smallest part that is secret or, inside a list, the whole list. */
function unwrapped(value: unknown): object {
  if (typeof value !== "object" || value === null) return {};
  if ("4dabf18193072939515e22adb298388d" in value) return value;
  return (
    Object.values(value)
      .map(unwrapped)
      .find((part) => Object.keys(part).length > 0) ?? {}
  );
}

onBothDrivers("options", (start) => {
  test("ignoreChanges on a path inside a policy keeps what is there, and lets the rest change", async () => {
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

  test("protect holds an endpoint back from destroy", async () => {
    const stack = await start(`
new CloudEndpoint("kept", { url: "https://kept.example.com" }, { protect: true });
new CloudEndpoint("other", { url: "https://other.example.com" });`);
    await stack.up();
    await expect(stack.destroy()).rejects.toThrow(/protect/);
    expect(stack.emulator.endpoints.map((endpoint) => endpoint.url)).toContain("https://kept.example.com");
  });

  test("retainOnDelete lets go of an endpoint without deleting it", async () => {
    const stack = await start(
      `new CloudEndpoint("kept", { url: "https://kept.example.com" }, { retainOnDelete: true });`,
    );
    await stack.up();
    expect(methods(await stack.destroy())).toEqual([]);
    expect(stack.emulator.endpoints).toHaveLength(1);
  });

  test("dependsOn orders creates, and destroys the other way round", async () => {
    const stack = await start(`
const component = new pulumi.ComponentResource("case:index:Group", "group");
const first = new CloudEndpoint("first", { url: "https://first.example.com" }, { parent: component });
new CloudEndpoint("second", { url: "https://second.example.com" }, { parent: component, dependsOn: [first] });`);
    const urls = (requests: readonly { body?: unknown }[]) =>
      requests.map(({ body }) => (body as { url: string }).url);
    expect(urls((await stack.up()).requests)).toEqual([
      "https://first.example.com",
      "https://second.example.com",
    ]);
    const [second, first] = stack.emulator.endpoints.map((endpoint) => `/endpoints/${endpoint.id}`);
    expect((await stack.destroy()).requests.map(({ path }) => path)).toEqual([second, first]);
  });
});

onBothDrivers("CloudEndpoint.get", (start) => {
  test("reads an endpoint of somebody else, and never touches it", async () => {
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

  test("of an endpoint that is not there, or of another type, fails the program", async () => {
    const stack = await start(`CloudEndpoint.get("theirs", "ep_theirs");`);
    await expect(stack.preview()).rejects.toThrow(/no endpoint ep_theirs/);
    stack.emulator.seed({ type: "edge", id: "ep_theirs" });
    await expect(stack.preview()).rejects.toThrow(/is of type edge/);
  });
});

onBothDrivers("the state", (start) => {
  test("holds at most 256 bytes a resource beyond the inputs and the service's fields", async () => {
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
