import type { ExportedResource } from "../types";
import { isRecord, type Props, propsFromState, propsToState } from "./values";

export interface Timeouts {
  create?: number;
  update?: number;
  delete?: number;
  read?: number;
}

/**
 * What the engine knows of one resource. Steps share these objects, and an old one is changed in place where the real
 * engine does so (`delete`, `pendingReplacement`), which is how the checkpoint learns of it.
 */
export interface ResourceState {
  urn: string;
  type: string;
  custom: boolean;
  id: string;
  inputs: Props;
  /** Undefined for a resource whose outputs were never set, as a component without `registerOutputs`. */
  outputs: Props | undefined;
  parent: string;
  protect: boolean;
  external: boolean;
  /** It was replaced; what is left is to delete the old one. */
  delete: boolean;
  /** It was deleted to be replaced; what is left is to create the new one. */
  pendingReplacement: boolean;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  initErrors: string[];
  provider: string;
  additionalSecretOutputs: string[];
  aliases: string[];
  customTimeouts: Timeouts;
  retainOnDelete: boolean;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  /** What the program's option `import` named. */
  importID: string;
  created: string;
  modified: string;
  /** Fields that this engine carries along and never looks at. */
  more: Record<string, unknown>;
}

export function newState(urn: string, type: string, fields: Partial<ResourceState>): ResourceState {
  return {
    urn,
    type,
    custom: false,
    id: "",
    inputs: {},
    outputs: undefined,
    parent: "",
    protect: false,
    external: false,
    delete: false,
    pendingReplacement: false,
    dependencies: [],
    propertyDependencies: {},
    initErrors: [],
    provider: "",
    additionalSecretOutputs: [],
    aliases: [],
    customTimeouts: {},
    retainOnDelete: false,
    ignoreChanges: [],
    replaceOnChanges: [],
    importID: "",
    created: "",
    modified: "",
    more: {},
    ...fields,
  };
}

/** Leaves out what Go's `omitempty` leaves out. */
function nonEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      if (value === undefined || value === false || value === "") return false;
      return typeof value !== "object" || value === null || Object.keys(value).length > 0;
    }),
  );
}

/** As `SerializeResource`. */
export function toExported(state: ResourceState): ExportedResource {
  const {
    urn,
    type,
    custom,
    inputs,
    outputs,
    aliases: _aliases,
    more,
    propertyDependencies,
    ...rest
  } = state;
  const keys = Object.keys(propertyDependencies).sort();
  return {
    ...more,
    ...nonEmpty({
      ...rest,
      inputs: propsToState(inputs),
      outputs: outputs && propsToState(outputs),
      propertyDependencies: Object.fromEntries(keys.map((key) => [key, propertyDependencies[key]])),
    }),
    urn,
    type,
    custom,
  };
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** As `DeserializeResource`. */
export function fromExported(exported: ExportedResource): ResourceState {
  const known = newState(exported.urn, exported.type, {});
  const dependencies = isRecord(exported.propertyDependencies) ? exported.propertyDependencies : {};
  return {
    ...known,
    custom: exported.custom === true,
    id: text(exported.id),
    inputs: propsFromState(exported.inputs),
    outputs: propsFromState(exported.outputs),
    parent: text(exported.parent),
    protect: exported["protect"] === true,
    external: exported["external"] === true,
    delete: exported["delete"] === true,
    pendingReplacement: exported["pendingReplacement"] === true,
    dependencies: strings(exported.dependencies),
    propertyDependencies: Object.fromEntries(
      Object.entries(dependencies).map(([key, urns]) => [key, strings(urns)]),
    ),
    initErrors: strings(exported["initErrors"]),
    provider: text(exported.provider),
    additionalSecretOutputs: strings(exported["additionalSecretOutputs"]),
    customTimeouts: timeouts(exported["customTimeouts"]),
    retainOnDelete: exported["retainOnDelete"] === true,
    ignoreChanges: strings(exported["ignoreChanges"]),
    replaceOnChanges: strings(exported["replaceOnChanges"]),
    importID: text(exported["importID"]),
    created: text(exported["created"]),
    modified: text(exported["modified"]),
    more: Object.fromEntries(Object.entries(exported).filter(([key]) => !(key in known))),
  };
}

function timeouts(value: unknown): Timeouts {
  const result: Timeouts = {};
  if (!isRecord(value)) return result;
  for (const key of ["create", "update", "delete", "read"] as const)
    if (typeof value[key] === "number") result[key] = value[key];
  return result;
}

/** The name in `urn:pulumi:stack::project::type::name`, which may hold `::` itself. */
export function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** The type in a URN, without those of its parents. */
export function typeOf(urn: string): string {
  return (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
}

/** The URN in a provider reference `URN::id`. */
export function providerUrn(reference: string): string {
  return reference.slice(0, reference.lastIndexOf("::"));
}

export const ROOT_STACK = "pulumi:pulumi:Stack";

const PROVIDERS = "pulumi:providers:";

export function isProviderType(type: string): boolean {
  return type.startsWith(PROVIDERS);
}

/** The package that a provider's type names. */
export function providerPackage(type: string): string {
  return type.slice(PROVIDERS.length);
}

export function providerType(package_: string): string {
  return PROVIDERS + package_;
}

/** A provider that no program made; as `IsDefaultProvider`. */
export function isDefaultProvider(urn: string): boolean {
  return isProviderType(typeOf(urn)) && nameOf(urn).startsWith("default");
}

/** As `CreateURN`: a parent that is the stack leaves no trace. */
export function createUrn(
  stack: string,
  project: string,
  parent: string,
  type: string,
  name: string,
): string {
  const parentType = parent === "" ? "" : (parent.split("::")[2] ?? "");
  const qualified = parentType === "" || parentType === ROOT_STACK ? type : `${parentType}$${type}`;
  return `urn:pulumi:${stack}::${project}::${qualified}::${name}`;
}

/** What must still be there for this resource to be: all that it depends on but its parent. */
export function dependenciesOf(state: ResourceState): Set<string> {
  const urns = new Set([...state.dependencies, ...Object.values(state.propertyDependencies).flat()]);
  if (state.provider !== "") urns.add(providerUrn(state.provider));
  return urns;
}
