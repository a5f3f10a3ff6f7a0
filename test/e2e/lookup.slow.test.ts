import { expect, test } from "vitest";
import { UNKNOWN } from "../../provider/pulumi/sentinels";
import { edit, methods, onBothDrivers, writes } from "./setup";

/** What data sources, `get` and resources give to others, all of it unknown at the first preview. */
const program = (host: string, query = "{ url: first.url }") => `
const { Provider, getEndpointOutput, getEndpointsOutput } = require("pulumi-endpoints");
const provider = new Provider("account");
const found = ([name, options]) => {
  const first = new CloudEndpoint("first-" + name, { url: "https://${host}-" + name + ".example.com" }, options);
  const second = new CloudEndpoint("second-" + name, {
    url: first.publicUrl.apply((url) => url.replace("first", "second")),
    trafficPolicy: { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: first.createdAt } }] }] },
    metadata: pulumi.jsonStringify({ behind: first.id }),
  }, options);
  const theirs = CloudEndpoint.get("theirs-" + name, "ep_theirs", options);
  return {
    ids: [first.id, second.id],
    found: getEndpointOutput(${query}, options).id,
    behind: getEndpointsOutput({ urlPattern: "https://*-" + name + ".example.com", types: ["cloud"] }, { ...options, dependsOn: [second] }).ids.length,
    theirs: [theirs.url, theirs.trafficPolicy],
  };
};
module.exports = {
  all: [["dynamic", {}], ["plugin", { provider }]].map(found),
  hidden: getEndpointOutput({ id: pulumi.secret("ep_edge") }).publicUrl,
};`;

onBothDrivers("what a program reads and passes on, with both providers", (start) => {
  test("is unknown at the preview, and right at the up", async () => {
    const stack = await start(program("first"));
    const { emulator } = stack;
    emulator.seed({ type: "edge", id: "ep_edge", public_url: "tls://CANARY.example.com" });
    const theirs = { url: "https://theirs.example.com", traffic_policy: '{"a":1}' };
    emulator.seed({ type: "cloud", id: "ep_theirs", ...theirs });
    const preview = await stack.preview({ diff: true });
    expect(preview.text).toMatch(/found *: \[unknown\]/);
    // The CLI shows an explicit provider's id.
    expect(preview.text.replace(/\[provider=.*\]/g, "")).not.toContain(UNKNOWN);
    const up = await stack.up();
    const ids = (up.outputs["all"] as { ids: string[] }[]).map((each) => each.ids);
    expect(up.outputs).toMatchObject({
      all: ids.map(([found]) => ({ found, behind: 2, theirs: Object.values(theirs) })),
      hidden: "tls://CANARY.example.com",
    });
    expect(preview.text + up.text).not.toContain("CANARY");
    expect(methods({ requests: writes(up) })).toEqual(Array(4).fill("POST"));
    expect(JSON.stringify(up.requests)).not.toContain(UNKNOWN);

    // Another URL of the one is no replacement of the other.
    edit(stack, program("first2", "{ id: first.id }"));
    const change = await stack.up();
    expect(methods({ requests: writes(change) })).toEqual(Array(4).fill("PATCH"));
    const urls = ids.map(([, id]) => emulator.endpoints.find((endpoint) => endpoint.id === id)?.url);
    expect(urls).toEqual(["dynamic", "plugin"].map((name) => `https://second2-${name}.example.com`));
    expect(methods({ requests: writes(await stack.destroy()) })).toEqual(Array(4).fill("DELETE"));
  });
});
