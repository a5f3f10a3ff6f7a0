import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Part, type PlayOptions, THINGS } from "./play";

/**
 * Scenarios with another package, whose plugin the CLI runs and the test kit answers for with the option `others`, and with other
 * stacks, which the CLI has in its backend.
 */
export const otherScenarios: Record<string, Part[]> = {
  "previews, updates, replacements and deletions": [
    ["preview", "others.1"],
    ["up", "others.1"],
    ["up", "others.1"],
    ["preview", "others.2"],
    ["up", "others.2"],
    ["refresh", ""],
    ["up", "others.2", { replace: ["urn:pulumi:test::things::elsewhere:index/thing:Other::a"] }],
    ["destroy", ""],
  ],
  "explicit providers and versions": [
    ["preview", "otherProviders.1"],
    ["up", "otherProviders.1"],
    ["up", "otherProviders.2"],
    ["destroy", ""],
  ],
  "functions and their failures": [
    ["preview", "otherFunctions"],
    ["up", "otherFunctions"],
  ],
  "reading with get": [
    ["preview", "otherGet"],
    ["up", "otherGet"],
    ["refresh", ""],
    ["destroy", ""],
  ],
  "outputs of other stacks": [
    ["preview", "stacks"],
    ["up", "stacks"],
    ["up", "stacks"],
    ["refresh", ""],
    ["destroy", ""],
  ],
  "an unknown stack": [
    ["preview", "unknownStack"],
    ["up", "unknownStack"],
  ],
  "an unknown output of another stack": [["up", "unknownOutput"]],
};

export const otherOptions: PlayOptions = {
  program: THINGS,
  env: { PATH: `${join(THINGS, "elsewhere")}${delimiter}${process.env["PATH"]}` },
  stackReferences: {
    "organization/network/dev": {
      url: "https://network.example.com",
      token: { secret: "hush" },
      nested: { zones: ["a", "b"], n: 1 },
      keys: { secret: { list: [1, 2] } },
    },
    "organization/things/sibling": { n: 1 },
  },
  config: { "elsewhere:region": "eu", "elsewhere:token": { secret: "hush" } },
  others: createRequire(THINGS)(join(THINGS, "elsewhere/answers.js")),
};
