import type { ExportedResource, ExportedState } from "../../sdk/testing";

/** Fields that differ in each run: times and places in source files. */
const VOLATILE = ["created", "modified", "sourcePosition", "stackTrace"];

const MASKS: [RegExp, string][] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, "http://service"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "a time"],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "a uuid"],
  [/"[0-9a-f]{16}"/g, '"a random number"'],
];

/** Prepares the states of two drivers for a comparison: numbers the ids in order of appearance, and masks times. */
export function normalize(state: ExportedState): { resources: unknown[]; pending: unknown[] } {
  const resources = [...(state.deployment.resources ?? [])]
    .map(({ ...resource }: ExportedResource) => {
      for (const key of VOLATILE) delete resource[key];
      const { inputs, outputs, dependencies, propertyDependencies } = resource;
      return {
        ...resource,
        // The CLI writes them in any order.
        ...(dependencies && { dependencies: dependencies.toSorted() }),
        ...(propertyDependencies && {
          propertyDependencies: Object.fromEntries(
            Object.entries(propertyDependencies).map(([key, urns]) => [key, urns.toSorted()]),
          ),
        }),
        ...(inputs && { inputs: withoutKey(inputs) }),
        ...(outputs && { outputs: withoutKey(outputs) }),
      };
    })
    .sort((a, b) => key(a).localeCompare(key(b)));
  let text = JSON.stringify({ resources, pending: state.deployment.pending_operations ?? [] });

  // The engine's signature of secrets looks like a UUID, but must stay.
  const sentinel = "4dabf18193072939515e22adb298388d";
  const ids = new Map<string, string>();
  text = text.replaceAll(sentinel, "a-sentinel").replace(/\b(ep|ra|rd)_\w+/g, (id) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id) ?? id;
  });
  for (const [pattern, mask] of MASKS) text = text.replace(pattern, mask);
  // The engine's JSON of secrets has other escapes.
  return JSON.parse(text, (name, value) =>
    name === "plaintext" ? JSON.stringify(JSON.parse(value)) : value,
  );
}

/** Masks the key, which the emulator creates for each stack, and the account's fingerprint, which depends on the key. */
const withoutKey = (properties: Record<string, unknown> = {}) =>
  Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      /^(endpoints:)?apiKey$|^__account$/.test(key) ? "a key" : value,
    ]),
  );

const key = (resource: ExportedResource) => `${resource.urn} ${resource["delete"] === true}`;
