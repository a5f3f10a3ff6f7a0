import { isMapping } from "../../../provider/data/index";
import type { ExportedResource, ExportedState } from "../index";

/** Fields that differ between runs: times and places in source files. */
const VOLATILE = ["created", "modified", "sourcePosition", "stackTrace"];

const MASKS: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "a time"],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "a uuid"],
];

/** A state without the fields that differ between runs. It is sorted, because the CLI writes many parts in any order. */
export function comparableState({ deployment }: ExportedState): { resources: unknown[]; pending: unknown[] } {
  const { resources: all = [], pending_operations: pending = [] } = deployment;
  const resources = all.map(comparable).sort((a, b) => key(a).localeCompare(key(b)));
  const masked = MASKS.reduce(
    (text, [pattern, mask]) => text.replace(pattern, mask),
    JSON.stringify({ resources, pending }),
  );
  return JSON.parse(masked, (name, value) => {
    // Parsed and written again, because the CLI's JSON of secrets has other escapes.
    if (name === "plaintext") return JSON.stringify(JSON.parse(value));
    return isMapping(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
  });
}

function comparable({ ...resource }: ExportedResource): ExportedResource {
  for (const field of VOLATILE) delete resource[field];
  const { dependencies, propertyDependencies } = resource;
  const byProperty = Object.entries(propertyDependencies ?? {}).map(([name, urns]) => [
    name,
    urns.toSorted(),
  ]);
  return {
    ...resource,
    ...(dependencies && { dependencies: dependencies.toSorted() }),
    ...(propertyDependencies && { propertyDependencies: Object.fromEntries(byProperty) }),
  };
}

const key = (resource: ExportedResource) => `${resource.urn} ${resource["delete"] === true}`;
