import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Emulator, type ExportedState } from "../../sdk/testing";
import { edit, methods, onBothDrivers, writes } from "./setup";

/*
 * States that the real CLI exported after an `up` with an earlier release, with `http://service` for the base URL. What
 * they hold has to work for ever: a file is added with each release that changes what a state holds, and none is edited.
 */
const RECORDED = ["0.1.0"];

const program = (description: string) => `
new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] },
  description: "${description}",
  metadata: pulumi.secret({ team: "shop" }),
  bindings: ["public"],
  poolingEnabled: false,
});`;

const recorded = (release: string, baseUrl: string): ExportedState =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `states/${release}.json`), "utf8").replaceAll(
      "http://service",
      baseUrl,
    ),
  );

onBothDrivers("a state that was recorded with release", (start) => {
  test.for(RECORDED)("%s shows no change, is refreshed, updated and destroyed", async (release) => {
    // A refresh takes its configuration from the state, so the account's key is the one that was recorded.
    const emulator = await Emulator.start({ apiKey: "not-a-key" });
    onTestFinished(() => emulator.close());
    const stack = await start(program("front door"), { emulator });
    const state = recorded(release, stack.emulator.baseUrl);
    const id = state.deployment.resources?.find(({ urn }) => urn.endsWith("::shop"))?.id ?? "";
    stack.emulator.seed({
      type: "cloud",
      id,
      url: "https://shop.example.com",
      description: "front door",
      metadata: '{"team":"shop"}',
      traffic_policy: '{"on_http_request":[{"actions":[{"config":{"status_code":404},"type":"deny"}]}]}',
    });
    await stack.importState(state);

    await stack.refresh({ expectNoChanges: true });
    expect(writes(await stack.up({ expectNoChanges: true }))).toEqual([]);
    edit(stack, program("back door"));
    expect(writes(await stack.up()).map(({ body }) => body)).toEqual([{ id, description: "back door" }]);
    expect(methods(await stack.destroy())).toEqual(["DELETE"]);
    expect(stack.emulator.endpoints).toEqual([]);
  });
});
