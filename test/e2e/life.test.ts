import { expect, test } from "vitest";
import { edit, methods, onBothDrivers, writes } from "./setup";

/** An endpoint on each provider. */
const program = (scheme: string, host: string, inputs: string) => `
const { Provider } = require("pulumi-endpoints");
const shop = (name, options) =>
  new CloudEndpoint(name, { url: "${scheme}://" + name + ".${host}", ${inputs} }, options);
const [dynamic, plugin] = [shop("dynamic"), shop("plugin", { provider: new Provider("account") })];
module.exports = { ids: [dynamic.id, plugin.id], urls: [dynamic.publicUrl, plugin.publicUrl] };
`;
const policy = (status: number) =>
  `trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code: ${status} } }] }] }`;

onBothDrivers("an endpoint of each provider", (start) => {
  test("is created, repaired, updated, replaced and deleted with one request for each step", async () => {
    const first = program(
      "https",
      "a.example.com",
      `${policy(404)}, description: "ours", metadata: { list: [null], none: null }`,
    );
    const stack = await start(first);
    const up = await stack.up();
    const ids = up.outputs["ids"] as [string, string];
    expect(up.outputs).toEqual({
      ids: [expect.stringMatching(/^ep_/), expect.stringMatching(/^ep_/)],
      urls: ["https://dynamic.a.example.com", "https://plugin.a.example.com"],
    });
    expect(methods(up)).toEqual(["POST", "POST"]);
    expect(stack.emulator.endpoints).toMatchObject(
      Array(2).fill({ metadata: '{"list":[null],"none":null}' }),
    );
    expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);

    for (const id of ids) stack.emulator.edit(id, { description: "by hand" });
    edit(stack, program("https", "b.example.com", `${policy(403)}, description: "ours"`));
    const change = await stack.up({ refresh: true });
    const updates = change.steps.filter(({ op }) => op === "update").map(({ name, diff }) => [name, diff]);
    const diff = ["-metadata", "~description", "~trafficPolicy", "~url"];
    // The engine of the CLI also reports the refresh, as a step of its own.
    expect(updates.filter(([, shown]) => shown?.length === diff.length).sort()).toEqual([
      ["dynamic", diff],
      ["plugin", diff],
    ]);
    expect(writes(change)).toHaveLength(2);
    for (const [index, name] of ["dynamic", "plugin"].entries())
      expect(writes(change).map(({ body }) => body)).toContainEqual({
        id: ids[index],
        url: `https://${name}.b.example.com`,
        description: "ours",
        metadata: "",
        traffic_policy: expect.stringContaining("403"),
      });

    edit(stack, program("tls", "b.example.com", policy(403)));
    const replacement = await stack.up();
    expect(replacement.changes).toMatchObject({ replace: 2 });
    expect(methods(replacement).sort()).toEqual(["DELETE", "DELETE", "POST", "POST"]);
    expect(methods(replacement)[0]).toBe("DELETE");
    expect(replacement.outputs["ids"]).not.toEqual(ids);

    expect(methods(await stack.destroy())).toEqual(["DELETE", "DELETE"]);
    expect(stack.emulator.endpoints).toEqual([]);
  });
});
