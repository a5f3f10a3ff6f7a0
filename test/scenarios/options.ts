import { secret } from "../provider/plugin/pluginClient";
import { at, type Scenario, scenario } from "./scenario";

/* Options and look-ups of a program, which the engine and the SDK carry out. So they run as stacks only. */

const shop = { url: at("shop") };
const hidden = { ...shop, options: { additionalSecretOutputs: ["publicUrl"] } };
const outputs = { hidden: { url: shop.url, publicUrl: secret(shop.url) } };
const ignored = { url: at("ignored"), description: "ours" };

/** A resource to replace, and one that the option does not concern. */
const replacing = (round: string) => ({
  inside: {
    url: at("inside"),
    trafficPolicy: { on_http_request: [{ name: round, actions: [{ type: "deny" }] }] },
    options: { replaceOnChanges: ["trafficPolicy.on_http_request[*].name"] },
  },
  elsewhere: {
    url: at("elsewhere"),
    description: round,
    options: { replaceOnChanges: ["trafficPolicy", "metadata"] },
  },
});

export const options: Scenario[] = [
  scenario(
    "an alias, additionalSecretOutputs, ignoreChanges and retainOnDelete do what Pulumi says, and keep to it",
    {
      from: { hidden, ignored, left: { url: at("left"), options: { retainOnDelete: true } }, old: "moved" },
      program: {
        hidden: { ...hidden, description: "x" },
        ignored: { ...ignored, description: "theirs", options: { ignoreChanges: ["description"] } },
        moved: { url: at("moved"), options: { alias: "old" } },
      },
      writes: ["PATCH shop description"],
      outputs,
      next: [{ command: "refresh", outputs }, {}],
      state: { hidden: "shop", ignored: "ignored", moved: "moved" },
      live: ["shop", "ignored", "moved", "left"],
    },
  ),
  scenario("replaceOnChanges replaces an endpoint only if the path that it names changes", {
    from: replacing("1"),
    program: replacing("2"),
    writes: ["DELETE inside", "PATCH elsewhere description", "POST inside"],
    next: [{}],
    state: { inside: "inside#2", elsewhere: "elsewhere" },
    // The class refuses this option for the dynamic provider.
    only: "plugin",
  }),
  scenario("getEndpoint finds what the same run creates, which is unknown at the preview", {
    program: { first: "first", second: { url: at("second"), options: { finds: "first" } } },
    writes: ["POST first", "POST second"],
    fields: { second: { description: "@first" } },
    next: [
      {},
      {
        program: {
          first: { url: at("first"), description: "x" },
          second: { url: at("second"), options: { finds: "first" } },
        },
        writes: ["PATCH first description"],
      },
    ],
  }),
];
