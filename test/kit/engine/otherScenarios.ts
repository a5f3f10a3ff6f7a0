import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Part, type PlayOptions, THINGS } from "./play";

/**
 * Scenarios with another package, whose plugin the CLI runs and the test kit answers for with the option `others`, and with other
 * stacks, which the CLI has in its backend.
 */
export const otherScenarios: Record<string, Part[]> = {
  "resources and functions of another package": [
    ["preview", "others.1"],
    ["up", "others.1"],
    ["preview", "others.2"],
    ["up", "others.2"],
    ["refresh", ""],
    ["up", "others.2", { replace: ["urn:pulumi:test::things::elsewhere:index/thing:Other::a"] }],
    ["up", "otherProviders.1"],
    ["up", "otherProviders.2"],
    ["up", "otherFunctions"],
    ["up", "otherGet"],
    ["destroy", ""],
  ],
  "outputs of other stacks": [
    ["preview", "stacks"],
    ["up", "stacks"],
    ["up", "stacks"],
    ["refresh", ""],
    ["destroy", ""],
  ],
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
