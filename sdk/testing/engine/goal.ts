import type { Alias } from "@pulumi/pulumi/proto/alias_pb";
import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import { isProviderType, providerPackage, type Timeouts } from "./resourceState";
import type { Props } from "./values";
import { propsFromWire } from "./wire";

/** What the program asks for. */
export interface Goal {
  type: string;
  name: string;
  custom: boolean;
  parent: string;
  inputs: Props;
  protect: boolean | undefined;
  retainOnDelete: boolean | undefined;
  deleteBeforeReplace: boolean | undefined;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  additionalSecretOutputs: string[];
  aliases: AliasSpec[];
  customTimeouts: Timeouts;
  /** The id of what exists and is to be taken over; empty for most. */
  importId: string;
  /** Who serves the resource, `URN::id`; empty where nobody is named, and for a component. */
  provider: string;
}

/** A former identity: a whole URN, or what of it differs from the present one. */
export type AliasSpec =
  | { urn: string }
  | { name: string; type: string; stack: string; project: string; parent: string; noParent: boolean };

/** Which provider a request asks for. */
export interface ProviderWish {
  package: string;
  /** A reference, as the program gave it; empty for the default. */
  provider: string;
  /** References by package. */
  providers: Record<string, string>;
  parent: string;
  version: string;
  pluginDownloadURL: string;
}

export interface ReadGoal {
  type: string;
  name: string;
  id: string;
  parent: string;
  inputs: Props;
  dependencies: string[];
  additionalSecretOutputs: string[];
}

/** What this engine refuses about a registration; undefined where it takes it. */
export function whatIsUnsupported(request: pb.RegisterResourceRequest): string | undefined {
  if (request.getRemote()) return `remote components (${request.getType()})`;
  if (request.getTransformsList().length > 0) return "transforms";
  if (request.hasHooks()) return "resource hooks";
  if (request.getHidediffsList().length > 0) return `the option hideDiffs (of ${request.getName()})`;
  if (request.getEnvvarmappingsMap().getLength() > 0)
    return `the option envVarMappings (of ${request.getName()})`;
  if (request.getPackageref() !== "") return `packages with parameters (${request.getType()})`;
  if (request.getPluginchecksumsMap().getLength() > 0)
    return `the option pluginChecksums (of ${request.getName()})`;
  if (request.getDeletedwith() !== "") return `the option deletedWith (of ${request.getName()})`;
  if (request.getReplaceWithList().length > 0) return `the option replaceWith (of ${request.getName()})`;
  if (request.hasReplacementTrigger()) return `the option replacementTrigger (of ${request.getName()})`;
  return undefined;
}

/** As `resmon.RegisterResource` reads a request. */
export function goalOf(request: pb.RegisterResourceRequest): Goal {
  const dependencies = [...new Set(request.getDependenciesList())].sort();
  const byProperty = new Map<string, Set<string>>();
  for (const [key, value] of request.getPropertydependenciesMap().entries() as Iterable<
    [string, pb.RegisterResourceRequest.PropertyDependencies]
  >)
    byProperty.set(key, new Set(value.getUrnsList()));
  const backfill = byProperty.size === 0;
  const found: [string, string][] = [];
  const inputs = propsFromWire(request.getObject()?.toJavaScript(), (key, urn) => found.push([key, urn]));
  // A request that says nothing of single properties means that each depends on all.
  for (const key of Object.keys(inputs))
    if (!byProperty.has(key)) byProperty.set(key, new Set(backfill ? dependencies : []));
  for (const [key, urn] of found) byProperty.get(key)?.add(urn);
  const timeouts = request.getCustomtimeouts();
  return {
    type: request.getType(),
    name: request.getName(),
    custom: request.getCustom(),
    parent: request.getParent(),
    inputs,
    protect: request.hasProtect() ? request.getProtect() : undefined,
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    deleteBeforeReplace:
      request.getDeletebeforereplacedefined() || request.getDeletebeforereplace()
        ? request.getDeletebeforereplace()
        : undefined,
    dependencies,
    propertyDependencies: Object.fromEntries([...byProperty].map(([key, urns]) => [key, [...urns].sort()])),
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
    aliases: [
      ...request.getAliasurnsList().map((urn) => ({ urn })),
      ...request.getAliasesList().map(aliasOf),
    ],
    customTimeouts: {
      ...seconds("create", timeouts?.getCreate()),
      ...seconds("update", timeouts?.getUpdate()),
      ...seconds("delete", timeouts?.getDelete()),
      ...seconds("read", timeouts?.getRead?.()),
    },
    importId: request.getImportid(),
    provider: "",
  };
}

export function readGoalOf(request: pb.ReadResourceRequest): ReadGoal {
  return {
    type: request.getType(),
    name: request.getName(),
    id: request.getId(),
    parent: request.getParent(),
    inputs: propsFromWire(request.getProperties()?.toJavaScript()),
    dependencies: [...new Set(request.getDependenciesList())].sort(),
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
  };
}

function aliasOf(alias: Alias): AliasSpec {
  const spec = alias.getSpec();
  if (!spec) return { urn: alias.getUrn() };
  return {
    name: spec.getName(),
    type: spec.getType(),
    stack: spec.getStack(),
    project: spec.getProject(),
    parent: spec.getParenturn(),
    noParent: spec.getNoparent(),
  };
}

/** What all requests that need a provider have in common. */
interface WithProvider {
  getProvider(): string;
  getParent?(): string;
  getVersion(): string;
  getPlugindownloadurl(): string;
  getProvidersMap?(): { toObject(include: boolean): [string, string][] };
}

export function wishOf(token: string, request: WithProvider): ProviderWish {
  return {
    package: isProviderType(token) ? providerPackage(token) : (token.split(":")[0] ?? ""),
    provider: request.getProvider(),
    providers: Object.fromEntries(request.getProvidersMap?.().toObject(false) ?? []),
    parent: request.getParent?.() ?? "",
    version: request.getVersion(),
    pluginDownloadURL: request.getPlugindownloadurl().replace(/\/$/, ""),
  };
}

/** `1h30m` in seconds; as `generateTimeoutInSeconds`. */
function seconds(key: keyof Timeouts, text: string | undefined): Timeouts {
  if (!text) return {};
  const units: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text)
    throw new Error(`unable to parse customTimeout Value ${text}`);
  return {
    [key]: parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? "s"] ?? 1), 0),
  };
}
