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

/** Another package, whose plugin the CLI runs and the test engine answers for, and other stacks, which the CLI has in its backend. */
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

/** Runs most of the engine's code in few commands. */
export const moves = "aliases, replacements, and moves between a dynamic type and a plugin's";

/** A create, an update, a replacement and more that a provider makes in part, each followed by a whole one. */
const partial: ScenarioStep[] = [
  inPart,
  "up partial.1",
  whole,
  ...["preview partial.1", "up partial.1", "up partial.1"],
  inPart,
  "up partial.2",
  // A revert of the program.
  whole,
  ...["preview partial.1", "up partial.1"],
  inPart,
  ...["up partial.2", "up partial.2"],
  whole,
  ...["refresh", "up partial.1"],
  inPart,
  "up partial.3",
  whole,
  "up partial.3",
  inPart,
  "up partial.2",
  ...["refresh", "destroy"],
];

/** Each scenario is a sequence of commands, which run variants of the program, and of edits of the provider's objects. */
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
    there,
    ...["preview import.1", "up import.1", "up import.2", "up import.3"],
    ...["preview import.4", "up import.4", "up import.5", "destroy"],
    there,
    ...["up importOptions.1", "up importOptions.1", "destroy"],
  ],
  "replacements whose create fails": [
    plugged,
    // The deletion is skipped. Two later runs try the create again, with and without `--replace`.
    "up kept.1",
    full,
    ["up kept.1", { replace: [plugin("kept")] }],
    ...["refresh", "preview kept.1", "up kept.1"],
    notFull,
    ...["preview kept.1", "up kept.1", "up kept.1"],
    full,
    "up kept.2",
    notFull,
    ["up kept.2", { replace: [plugin("kept")] }],
    // The entry leaves the state with the program's resource.
    full,
    "up kept.1",
    ...["preview empty", "up empty"],
    notFull,
    // A protected entry does so, too. It was allowed to be replaced by an unprotected one.
    "up kept.3",
    full,
    ["up kept.3", { replace: [plugin("kept")] }],
    ["up kept.1", { replace: [plugin("kept")] }],
    ...["up kept.3", "refresh", "destroy"],
    notFull,
    // The resource is deleted. With `--replace`, the provider cannot ask for that order, and the old id is deleted again.
    "up deleted.1",
    full,
    "up deleted.2",
    notFull,
    "up deleted.2",
    full,
    "up deleted.1",
    notFull,
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

/** From now on, every create fails. */
function full(objects: ObjectsById): void {
  objects["full"] = {};
}

function notFull(objects: ObjectsById): void {
  delete objects["full"];
}

/** From now on, creates and updates are made in part. */
function inPart(objects: ObjectsById): void {
  objects["partial"] = {};
}

function whole(objects: ObjectsById): void {
  delete objects["partial"];
}

/** Adds objects that were created without Pulumi. */
function there(objects: ObjectsById): void {
  Object.assign(objects, {
    there: { n: 1, size: 1 },
    other: { n: 1, size: 1 },
    silent: { n: 1, outputOnly: true },
  });
}
