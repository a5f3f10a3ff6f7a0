import { expect, test } from "vitest";
import { UNKNOWN } from "../../provider/endpoint/documents";
import { edit, errors, failure, methods, onBothDrivers, writes } from "./setup";

/** What data sources, `get` and resources give to others, all of it unknown at the first preview. */
const program = (host: string, query = "{ url: first.url }") => `
const { getEndpointOutput, getEndpointsOutput } = require("pulumi-endpoints");
const first = new CloudEndpoint("first", { url: "https://${host}.example.com" });
const second = new CloudEndpoint("second", {
  url: first.publicUrl.apply((url) => url.replace("first", "second")),
  trafficPolicy: { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: first.createdAt } }] }] },
  metadata: pulumi.jsonStringify({ behind: first.id }),
});
const theirs = CloudEndpoint.get("theirs", "ep_theirs");
module.exports = {
  ids: [first.id, second.id],
  found: getEndpointOutput(${query}).id,
  behind: getEndpointsOutput({ urlPattern: "https://*.example.com", types: ["cloud"] }, { dependsOn: [second] }).ids.length,
  hidden: getEndpointOutput({ id: pulumi.secret("ep_edge") }).publicUrl,
  theirs: [theirs.url, theirs.trafficPolicy],
};`;

onBothDrivers("what a program reads and passes on", (start) => {
  test.each(["dynamic", "plugin"])(
    "is unknown at the preview, and right at the up, with the %s provider",
    async (provider) => {
      const stack = await start(program("first"), { env: { ENDPOINTS_PROVIDER: provider } });
      const { emulator } = stack;
      emulator.seed({ type: "edge", id: "ep_edge", public_url: "tls://CANARY.example.com" });
      const theirs = { url: "https://theirs.example.com", traffic_policy: '{"a":1}' };
      emulator.seed({ type: "cloud", id: "ep_theirs", ...theirs });
      const preview = await stack.preview({ diff: true });
      expect(preview.text).toMatch(/found *: \[unknown\]/);
      expect(preview.text).not.toContain(UNKNOWN);
      const up = await stack.up();
      const [, id] = up.outputs["ids"] as string[];
      expect(up.outputs).toMatchObject({
        found: (up.outputs["ids"] as string[])[0],
        behind: 3,
        hidden: "tls://CANARY.example.com",
        theirs: [theirs.url, theirs.traffic_policy],
      });
      expect(preview.text + up.text).not.toContain("CANARY");
      expect(writes(up).map(({ method }) => method)).toEqual(["POST", "POST"]);
      expect(JSON.stringify(up.requests)).not.toContain(UNKNOWN);

      // Another URL of the one is no replacement of the other.
      edit(stack, program("first2", "{ id: first.id }"));
      expect((await stack.preview()).changes["replace"]).toBeUndefined();
      const change = await stack.up();
      expect(writes(change).map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
      expect(emulator.endpoints.find((endpoint) => endpoint.id === id)?.url).toBe(
        "https://second2.example.com",
      );
      expect(methods({ requests: writes(await stack.destroy()) })).toEqual(["DELETE", "DELETE"]);

      edit(stack, `CloudEndpoint.get("theirs", "ep_nobody");`);
      const missing = await failure(stack.preview());
      expect(errors(missing).filter((error) => error.includes("ep_nobody"))).toEqual([
        expect.stringMatching(/There is no endpoint ep_nobody in this account\. Correct the id/),
      ]);
      expect(missing.text).not.toMatch(/\n\s+at /);
    },
  );
});
