import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { edit, failure, onKit } from "./setup";

/** Part of every secret here. No message may contain it. */
const CANARY = "CANARY7f3c";

onKit("mistakes in a program", (start) => {
  const endpoint = (name: string, more = "", type = "CloudEndpoint") =>
    `new ${type}("${name}", { url: "https://${name}.example.com", trafficPolicy: policy } ${more});\n`;
  const head = `
const { mergeTrafficPolicy, WebhookVerification } = require("pulumi-endpoints");
const policy = { on_http_request: [{ actions: [{ type: "custom-respons", config: { body: "${CANARY}" } }] }] };
const off = new endpoints.Provider("off", { policyWarnings: "off" });`;
  const merge = `mergeTrafficPolicy(policy, new WebhookVerification("hooks", { platform: "github", secret: "${CANARY}" }));`;
  const [ours, theirs] = [endpoint("ours"), endpoint("theirs", "", "endpoints.CloudEndpoint")];
  const probable =
    head + merge + ours + theirs + endpoint("silent", ", { provider: off }", "endpoints.CloudEndpoint");
  const ABOUT =
    '.on_http_request[0].actions[0].type "custom-respons" is no action known to this version; did you mean custom-response?';

  test("that are probable, in policies and settings, get a warning each, once from the class or the plugin", async () => {
    const config = {
      "endpoints:apiKey": CANARY,
      "endpoints:requestPerWindow": "3",
      // Those of other packages, of the program itself, and one beside the right one.
      "ngrok:apiKey": { secret: "theirs" },
      "case:baseUrl": "https://api.example.com",
      "endpoint:apiKey": { secret: "old" },
    };
    const stack = await start(probable, { config });
    const { diagnostics, requests } = await stack.preview();
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message }) => message.trim()).sort()).toEqual([
      expect.stringMatching(/^endpoints:apiKey is .* in plain text.*config set --secret endpoints:apiKey/),
      expect.stringMatching(/^endpoints:requestPerWindow is no .* mean endpoints:requestsPerWindow\?/),
      `mergeTrafficPolicy: policy${ABOUT}`,
      `ours: trafficPolicy${ABOUT}`,
      `trafficPolicy${ABOUT}`,
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain(CANARY);
    expect(requests).toEqual([]);
  });

  test.each([
    ["the class", ours],
    ["the plugin", theirs],
    ["mergeTrafficPolicy", merge],
  ])("that are probable are errors of %s if policy warnings are", async (_, statement) => {
    const stack = await start(head + statement, { config: { "endpoints:policyWarnings": "error" } });
    const { diagnostics, requests } = await failure(stack.preview());
    const about = diagnostics.filter(({ message }) => message.includes(ABOUT));
    expect(about.map(({ severity }) => severity)).toEqual(["error"]);
    expect(requests).toEqual([]);
  });
});

/** Names that earlier versions accepted, each with the expression that a program has for it. */
const FORMER: [expression: string, name: string][] = [
  ['"undefined-shop"', "undefined-shop"],
  ['pulumi.output("x") + "-shop"', `${pulumi.output("x")}-shop`],
];

onKit("a name that is built from something else than text", (start) => {
  test.each(FORMER)(
    "such as %s is refused, and the alias that the message names keeps the endpoint",
    async (expression, former) => {
      const url = "https://shop.example.com";
      const named = (name: string, options: string) =>
        `new CloudEndpoint(${name}, { url: "${url}" }, ${options});`;
      const stack = await start(named('"shop"', "{}"));
      await stack.up();
      const state = await stack.exportState();
      for (const resource of state.deployment.resources ?? [])
        resource.urn = resource.urn.replace(/::shop$/, () => `::${former}`);
      await stack.importState(state);

      edit(stack, named(expression, "{}"));
      const { text } = await failure(stack.preview());
      expect(text).toMatch(
        /shop" of a CloudEndpoint contains .*aliases: \[\{ name: … \}\] with the old expression/,
      );
      edit(stack, named('"shop"', `{ aliases: [{ name: ${expression} }] }`));
      expect((await stack.up()).steps.map(({ op }) => op)).not.toContain("create");
      edit(stack, named('"shop"', "{}"));
      const { steps, requests } = await stack.up();
      expect([steps.map(({ op }) => op), requests]).toEqual([["same"], []]);
      expect(stack.emulator.endpoints).toHaveLength(1);
    },
  );
});
