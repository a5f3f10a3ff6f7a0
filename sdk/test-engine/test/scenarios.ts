import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import {
  type ObjectsById,
  PLUGGED,
  type Scenario,
  type ScenarioOptions,
  type ScenarioStep,
  THINGS,
} from "./runScenario";

const thing = (name: string) => `urn:pulumi:test::things::pulumi-nodejs:dynamic/things:Thing::${name}`;

const plugin = (name: string) => `urn:pulumi:test::plugged::things:index:Thing::${name}`;

const things: ScenarioOptions = { program: THINGS };

const plugged: ScenarioOptions = {
  program: PLUGGED,
  config: {
    "things:account": "configured",
    "things:token": { secret: "hush" },
    "plugged:own": "not the plugin's",
  },
};

/** A program with another package (a plugin on the CLI, mocks on the test engine) and with other stacks. */
const others: ScenarioOptions = {
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

/** The scenario of the fast tests: it runs most of the engine's code in few commands. */
export const moves = "aliases, replacements, and moves between a dynamic type and a plugin's";

/** Creates, updates and replacements that a provider makes in part, each followed by one that it completes. */
const partial: ScenarioStep[] = [
  makeInPart,
  "up partial.1",
  makeWhole,
  ...["preview partial.1", "up partial.1", "up partial.1"],
  makeInPart,
  "up partial.2",
  // The program is reverted.
  makeWhole,
  ...["preview partial.1", "up partial.1"],
  makeInPart,
  ...["up partial.2", "up partial.2"],
  makeWhole,
  ...["refresh", "up partial.1"],
  makeInPart,
  "up partial.3",
  makeWhole,
  "up partial.3",
  makeInPart,
  "up partial.2",
  ...["refresh", "destroy"],
];

/** The scenarios: sequences of commands and of changes of the provider's objects. */
export const scenarios: Record<string, Scenario> = {
  "components, parents, dependencies, secrets, unknowns and get": [
    things,
    ...["up rich.1", "up rich.2", "up rich.2", "refresh", "destroy"],
  ],
  "updates, replacements and the options of resources": [
    things,
    "up changes.1",
    ["preview changes.2", { replace: [thing("forced"), thing("forced-late")] }],
    ["up changes.2", { replace: [thing("forced"), thing("forced-late")] }],
    "destroy",
  ],
  "steps, checks and programs that fail": [
    things,
    ...["up createFails.1", "up createFails.2", "up fails.1", "up fails.2", "up exits", "up bad", "up twice"],
    ...["up stays.1", "up stays.2", "destroy"],
  ],
  protection: [
    things,
    ...["up protect.1", "up protect.2", "up protect.3", "preview protect.4", "up protect.4", "destroy"],
  ],
  "refreshes and targets": [
    things,
    "up fewer.1",
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { extra: 1 });
      delete objects["b-1"];
    },
    ["refresh", { previewOnly: true }],
    ["refresh", { target: [thing("a")] }],
    ["up fewer.1", { target: [thing("a")] }],
    ["preview fewer.1", { refresh: true, target: [thing("a"), thing("b")] }],
    ["up fewer.1", { refresh: true, target: [thing("a"), thing("b")] }],
    ["up fewer.2", { expectNoChanges: true }],
    "destroy",
    "up drift",
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { text: "theirs", extra: true });
      Object.assign(objects["vague-1"] ?? {}, { text: "theirs", s: "two" });
      Object.assign(objects["e-1"] ?? {}, { n: 2 });
      Object.assign(objects["d-1"] ?? {}, { unreadable: true });
      delete objects["b-1"];
    },
    "refresh",
    (objects) => delete objects["d-1"]?.["unreadable"],
    "refresh",
    "up drift",
  ],
  "a plugin's previews, detailed diffs, secrets, references and drift": [
    plugged,
    ...["preview changes.1", "up changes.1", "preview changes.2", "up changes.2"],
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { deep: { same: 2, z: 3 }, secret: "theirs" });
      Object.assign(objects["b-1"] ?? {}, { n: 7 });
      Object.assign(objects["locked-1"] ?? {}, { unreadable: true });
      delete objects["lost-1"];
    },
    "refresh",
    (objects) => delete objects["locked-1"]?.["unreadable"],
    ...["refresh", "up changes.2", "destroy"],
  ],
  "several providers of a plugin": [
    plugged,
    ...["preview providers.1", "up providers.1", "preview providers.2", "up providers.2"],
    ...["refresh", "up empty"],
  ],
  "a provider whose name begins with default": [
    plugged,
    ...["preview namedDefault.1", "up namedDefault.1", "up namedDefault.2", "up namedDefault.3", "destroy"],
  ],
  "a plugin's functions and refusals": [
    plugged,
    ...["preview badConfig", "preview refused", "up refused", "up checkFails"],
    ...["preview invokes", "up invokes"],
  ],
  "imports by option": [
    plugged,
    addUnmanaged,
    ...["preview import.1", "up import.1", "up import.2", "up import.3"],
    ...["preview import.4", "up import.4", "up import.5", "destroy"],
    addUnmanaged,
    ...["up importOptions.1", "up importOptions.1", "destroy"],
  ],
  "replacements whose create fails": [
    plugged,
    // The deletion is skipped, and the create fails. Two later runs try it again, with and without `--replace`.
    "up kept.1",
    failCreates,
    ["up kept.1", { replace: [plugin("kept")] }],
    ...["refresh", "preview kept.1", "up kept.1"],
    allowCreates,
    ...["preview kept.1", "up kept.1", "up kept.1"],
    failCreates,
    "up kept.2",
    allowCreates,
    ["up kept.2", { replace: [plugin("kept")] }],
    // The pending entry leaves the state when the program no longer has the resource.
    failCreates,
    "up kept.1",
    ...["preview empty", "up empty"],
    allowCreates,
    // A protected entry also leaves the state. Its replacement was allowed, because the new resource is not protected.
    "up kept.3",
    failCreates,
    ["up kept.3", { replace: [plugin("kept")] }],
    ["up kept.1", { replace: [plugin("kept")] }],
    ...["up kept.3", "refresh", "destroy"],
    allowCreates,
    // The resource is deleted first. With `--replace`, the provider cannot ask for this order, and the old id is deleted again.
    "up deleted.1",
    failCreates,
    "up deleted.2",
    allowCreates,
    "up deleted.2",
    failCreates,
    "up deleted.1",
    allowCreates,
    ["up deleted.1", { replace: [plugin("deleted")] }],
    "destroy",
  ],
  "creates and updates that a dynamic provider makes in part": [things, ...partial],
  "creates and updates that a plugin makes in part": [plugged, ...partial],
  [moves]: [plugged, "up moves.1", "up moves.2", "up moves.3"],
  "resources and functions of another package": [
    others,
    ...["preview others.1", "up others.1", "up others.2", "refresh"],
    ["up others.2", { replace: ["urn:pulumi:test::things::elsewhere:index/thing:Other::a"] }],
    ...["up otherProviders.1", "up otherProviders.2", "up otherFunctions", "up otherGet", "destroy"],
  ],
  "outputs of other stacks": [others, ...["preview stacks", "up stacks", "up stacks", "refresh", "destroy"]],
};

/** Makes the provider fail every create. */
function failCreates(objects: ObjectsById): void {
  objects["full"] = {};
}

function allowCreates(objects: ObjectsById): void {
  delete objects["full"];
}

/** Makes the provider complete creates and updates only in part. */
function makeInPart(objects: ObjectsById): void {
  objects["partial"] = {};
}

function makeWhole(objects: ObjectsById): void {
  delete objects["partial"];
}

/** Adds objects that were created without Pulumi. */
function addUnmanaged(objects: ObjectsById): void {
  Object.assign(objects, {
    there: { n: 1, size: 1 },
    other: { n: 1, size: 1 },
    silent: { n: 1, outputOnly: true },
  });
}
