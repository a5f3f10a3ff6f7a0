import { isMapping, jsonOf } from "../../provider/data/index";

/** A state in the format of `pulumi stack export`. */
export interface ExportedState {
  version: number;
  deployment: {
    manifest: { time: string; magic: string; version: string };
    secrets_providers?: { type: string; state?: unknown };
    resources?: ExportedResource[];
    /** The operations that have begun and not ended, of a killed run or of a run that still runs. */
    pending_operations?: { resource: ExportedResource; type: string }[];
    metadata?: Record<string, unknown>;
  };
}

/** A resource in an exported state. */
export interface ExportedResource {
  urn: string;
  type: string;
  custom: boolean;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  parent?: string;
  provider?: string;
  dependencies?: string[];
  propertyDependencies?: Record<string, string[]>;
  [more: string]: unknown;
}

/**
 * Parses the output of `pulumi stack export`. Checks only the fields that callers of this function use.
 *
 * @throws Error with what is wrong. It quotes nothing, because a state may contain secrets.
 */
export function parseState(text: string): ExportedState {
  const state = jsonOf(text);
  const deployment = isMapping(state) ? state["deployment"] : undefined;
  if (!isMapping(deployment)) throw malformed("it has no deployment");
  const resources = deployment["resources"] ?? [];
  if (!Array.isArray(resources) || !resources.every(isResource))
    throw malformed("a resource has no URN, no type, or properties that are no object");
  const pending = deployment["pending_operations"] ?? [];
  if (!Array.isArray(pending) || !pending.every((one) => isMapping(one) && isResource(one["resource"])))
    throw malformed("a pending operation has no resource");
  return state as unknown as ExportedState;
}

const malformed = (what: string) =>
  new Error(`the state is not as Pulumi exports it: ${what}; \`pulumi stack export\` shows it`);

const isResource = (value: unknown): boolean =>
  isMapping(value) &&
  [value["urn"], value["type"]].every((text) => typeof text === "string") &&
  [value["inputs"], value["outputs"]].every((all) => (all ?? undefined) === undefined || isMapping(all));
