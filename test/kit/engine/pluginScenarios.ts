import { type Part, PLUGGED, type PlayOptions } from "./play";

/** Adds objects that were created without Pulumi. */
const there: Part = (objects) =>
  Object.assign(objects, {
    there: { n: 1, size: 1 },
    other: { n: 1, size: 1 },
    kinds: { kind: "there", size: 1 },
    silent: { n: 1, outputOnly: true },
  });

const config = {
  "things:account": "configured",
  "things:token": { secret: "hush" },
  "plugged:own": "not the plugin's",
};

/** Scenarios with a plugin, its functions and its providers. */
export const pluginScenarios: Record<string, Part[]> = {
  "previews, detailed diffs, secrets and references": [
    ["preview", "rich.1"],
    ["up", "rich.1"],
    ["preview", "rich.2"],
    ["up", "rich.2"],
    ["up", "rich.2"],
    ["refresh", ""],
    ["destroy", ""],
  ],
  "replacements by the diff of the plugin or by an option": [
    ["up", "replaced.1"],
    ["preview", "replaced.2"],
    ["up", "replaced.2"],
  ],
  "several providers of one package": [
    ["preview", "explicit.1"],
    ["up", "explicit.1"],
    ["up", "explicit.1"],
    ["up", "explicit.2"],
    ["refresh", ""],
    ["up", "empty"],
  ],
  "a provider whose account changes": [
    ["up", "account.1"],
    ["preview", "account.2"],
    ["up", "account.2"],
    ["destroy", ""],
  ],
  "a resource that moves to another provider": [
    ["up", "otherProvider.1"],
    ["up", "otherProvider.2"],
  ],
  "a component's providers": [["up", "component"]],
  "an invalid configuration": [
    ["preview", "badConfig"],
    ["up", "badConfig"],
    ["preview", "refused"],
    ["up", "refused"],
  ],
  "a check that fails": [["up", "checkFails"]],
  "functions and their failures": [
    ["preview", "invokes"],
    ["up", "invokes"],
  ],
  "refresh with drift and loss": [
    ["up", "drift"],
    (objects) => {
      Object.assign(objects["a-1"] ?? {}, { deep: { x: 2, z: 3 }, secret: "theirs" });
      Object.assign(objects["c-1"] ?? {}, { n: 7 });
      Object.assign(objects["d-1"] ?? {}, { unreadable: true });
      delete objects["b-1"];
    },
    ["refresh", ""],
    (objects) => delete objects["d-1"]?.["unreadable"],
    ["refresh", ""],
    ["up", "drift"],
  ],
  "import by option": [
    there,
    ["preview", "import.1"],
    ["up", "import.1"],
    ["up", "import.1"],
    ["preview", "import.2"],
    ["up", "import.2"],
    ["up", "import.3"],
    ["preview", "import.4"],
    ["up", "import.4"],
    ["up", "import.5"],
    ["destroy", ""],
  ],
  "import by option, with other options": [
    there,
    ["up", "importOptions.1"],
    ["up", "importOptions.1"],
    ["destroy", ""],
  ],
  "moving from the dynamic type to the plugin's and back": [
    ["up", "host.1"],
    ["preview", "host.2"],
    ["up", "host.2"],
    ["up", "host.2"],
    ["up", "host.3"],
    ["up", "host.4"],
    ["destroy", ""],
  ],
  "aliases by name, parent and URN": [
    ["up", "rename.1"],
    ["preview", "rename.2"],
    ["up", "rename.2"],
    ["up", "rename.2"],
  ],
};

export const pluginOptions: PlayOptions = { program: PLUGGED, config };
