import { type Part, type PlayOptions, THINGS } from "./play";

const urnOf = (name: string) => `urn:pulumi:test::things::pulumi-nodejs:dynamic/things:Thing::${name}`;

/** Scenarios with dynamic resources and with the options of any resource. */
export const dynamicScenarios: Record<string, Part[]> = {
  "components, parents, dependencies, secrets, unknowns": [
    ["up", "rich.1"],
    ["up", "rich.1"],
    ["up", "rich.2"],
    ["destroy", ""],
  ],
  "targets, and a refresh with previewOnly": [
    ["up", "fewer.1"],
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { extra: 1 });
      delete objects["b-1"];
    },
    ["refresh", "", { previewOnly: true }],
    ["refresh", "", { target: [urnOf("a")] }],
    ["up", "fewer.1", { target: [urnOf("a")] }],
    ["preview", "fewer.1", { refresh: true, target: [urnOf("a"), urnOf("b")] }],
    ["up", "fewer.1", { refresh: true, target: [urnOf("a"), urnOf("b")] }],
    ["up", "fewer.2", { expectNoChanges: true }],
  ],
  "updates and their diffs": [
    ["up", "update.1"],
    ["up", "update.2"],
    ["preview", "update.1"],
  ],
  "replacement that creates first": [
    ["up", "createFirst.1"],
    ["up", "createFirst.2"],
  ],
  "replacement that deletes first, with dependents": [
    ["up", "deleteFirst.1"],
    ["up", "deleteFirst.2"],
  ],
  "replacement in the order of the option deleteBeforeReplace": [
    ["up", "deleteFirstOption.1"],
    ["up", "deleteFirstOption.2"],
  ],
  "an update that fails": [
    ["up", "fails.1"],
    ["up", "fails.2"],
    ["up", "fails.3"],
  ],
  "a creation that fails": [
    ["up", "createFails.1"],
    ["up", "createFails.2"],
  ],
  "a partial creation": [
    ["up", "unready.1"],
    ["up", "unready.2"],
    ["up", "unready.3"],
  ],
  "a partial update": [
    ["up", "updateUnready.1"],
    ["up", "updateUnready.2"],
    ["up", "updateUnready.3"],
  ],
  "reading with get": [
    ["up", "get.1"],
    ["up", "get.2"],
    ["up", "get.2"],
    ["refresh", ""],
    ["destroy", ""],
  ],
  "ignoreChanges by path": [
    ["up", "ignore.1"],
    ["up", "ignore.2"],
  ],
  replaceOnChanges: [
    ["up", "replaceOn.1"],
    ["up", "replaceOn.2"],
  ],
  protect: [
    ["up", "protect.1"],
    ["up", "protect.2"],
    ["up", "protect.3"],
    ["destroy", ""],
  ],
  "protect against replacement": [
    ["up", "protectReplace.1"],
    ["preview", "protectReplace.2"],
    ["up", "protectReplace.2"],
  ],
  retainOnDelete: [
    ["up", "retain.1"],
    ["up", "retain.2"],
    ["destroy", ""],
  ],
  "forced replacement": [
    ["up", "forced.1"],
    ["up", "forced.2", { replace: [urnOf("b")] }],
    ["up", "forced.3", { replace: [urnOf("a")] }],
  ],
  "refresh with drift, loss and a failed read": [
    ["up", "drift"],
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { text: "theirs", extra: true });
      Object.assign(objects["vague-1"] ?? {}, { text: "theirs", s: "two" });
      Object.assign(objects["e-1"] ?? {}, { n: 2 });
      Object.assign(objects["d-1"] ?? {}, { unreadable: true });
      delete objects["b-1"];
    },
    ["refresh", ""],
    (objects) => delete objects["d-1"]?.["unreadable"],
    ["refresh", ""],
    ["up", "drift"],
    ["up", "drift"],
  ],
  "failed checks": [["up", "bad"]],
  "two resources with the same name": [["up", "twice"]],
  "a program that exits with an error": [
    ["up", "createFails.2"],
    ["up", "exits"],
  ],
  "a failed deletion": [
    ["up", "stays.1"],
    ["up", "stays.2"],
    ["destroy", ""],
  ],
};

export const dynamicOptions: PlayOptions = { program: THINGS };
