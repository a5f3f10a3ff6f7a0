import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Part, type PlayOptions, THINGS } from "./play";

/** Scenarios with another package: the CLI runs its plugin, and the test kit answers with the option `others`. */
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
};

export const otherOptions: PlayOptions = {
  program: THINGS,
  env: { PATH: `${join(THINGS, "elsewhere")}${delimiter}${process.env["PATH"]}` },
  config: { "elsewhere:region": "eu", "elsewhere:token": { secret: "hush" } },
  others: createRequire(THINGS)(join(THINGS, "elsewhere/answers.js")),
};
