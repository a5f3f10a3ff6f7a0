import type { Callback } from "@pulumi/pulumi/proto/callback_pb";
import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import { BUILT_IN } from "./answered";
import { newState, packageOf, type ResourceState } from "./checkpoint";
import { Unsupported } from "./project";
import { fromStruct } from "./properties";

export interface Goal {
  name: string;
  state: ResourceState;
  /** Undefined if the resource inherits it from its parent. */
  protect?: boolean | undefined;
  /** Undefined if the resource inherits it from its parent. */
  retainOnDelete?: boolean | undefined;
  /** Undefined if the provider decides. */
  deleteBeforeReplace?: boolean | undefined;
  aliases: Alias[];
  /** The resource's own transforms, which also change its children. */
  transforms: Callback[];
}

/** A former identity: a URN, or the parts of it that differ from the current one. */
export type Alias = { urn: string } | ReturnType<NonNullable<ReturnType<PbAlias["getSpec"]>>["toObject"]>;
type PbAlias = ReturnType<pb.RegisterResourceRequest["getAliasesList"]>[number];

export interface ProviderRequest {
  /** The type or the function. */
  token: string;
  package: string;
  version: string;
  pluginDownloadURL: string;
  /** The provider's reference. Empty for the default provider. */
  provider: string;
  /** References by package that a component passes to its children. */
  providers: Record<string, string>;
  parent: string;
}

function refuseUnsupported(request: pb.RegisterResourceRequest): void {
  const type = request.getType();
  const option = (name: string) => `the option ${name} (of ${request.getName()})`;
  const found: [boolean, string][] = [
    [request.getRemote(), `remote components (${type})`],
    [request.getCustom() && packageOf(type) === BUILT_IN, `resources of the type ${type}`],
    [request.hasHooks(), "resource hooks"],
    [request.getPackageref() !== "", `packages with parameters (${type})`],
    [request.getHidediffsList().length > 0, option("hideDiffs")],
    // The oldest supported SDKs do not have this method.
    [request.getEnvvarmappingsMap?.().getLength() > 0, option("envVarMappings")],
    [request.getPluginchecksumsMap().getLength() > 0, option("pluginChecksums")],
    [request.getDeletedwith() !== "", option("deletedWith")],
    [request.getReplaceWithList().length > 0, option("replaceWith")],
    [request.hasReplacementTrigger(), option("replacementTrigger")],
    [Object.values(request.getCustomtimeouts()?.toObject() ?? {}).some(Boolean), option("customTimeouts")],
  ];
  for (const [isAsked, what] of found) if (isAsked) throw new Unsupported(what);
}

type Dependencies = pb.RegisterResourceRequest.PropertyDependencies;

export function goalOf(request: pb.RegisterResourceRequest): Goal {
  refuseUnsupported(request);
  const byProperty = [
    ...(request.getPropertydependenciesMap().entries() as Iterable<[string, Dependencies]>),
  ].map(([key, value]) => [key, sorted(value.getUrnsList())]);
  const isOrdered = request.getDeletebeforereplacedefined() || request.getDeletebeforereplace();
  return {
    name: request.getName(),
    state: newState(request.getType(), {
      custom: request.getCustom(),
      parent: request.getParent(),
      inputs: fromStruct(request.getObject()),
      dependencies: sorted(request.getDependenciesList()),
      propertyDependencies: Object.fromEntries(byProperty),
      ignoreChanges: request.getIgnorechangesList(),
      replaceOnChanges: request.getReplaceonchangesList(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      importID: request.getImportid(),
    }),
    protect: request.hasProtect() ? request.getProtect() : undefined,
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    deleteBeforeReplace: isOrdered ? request.getDeletebeforereplace() : undefined,
    aliases: request.getAliasesList().map((alias) => alias.getSpec()?.toObject() ?? { urn: alias.getUrn() }),
    transforms: request.getTransformsList(),
  };
}

export function readGoalOf(request: pb.ReadResourceRequest): Goal {
  const state = newState(request.getType(), {
    custom: true,
    external: true,
    id: request.getId(),
    parent: request.getParent(),
    inputs: fromStruct(request.getProperties()),
    dependencies: sorted(request.getDependenciesList()),
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
  });
  return { name: request.getName(), state, aliases: [], transforms: [] };
}

const sorted = (urns: string[]) => [...new Set(urns)].sort();

type Request = pb.RegisterResourceRequest | pb.ReadResourceRequest | pb.ResourceInvokeRequest;

export function providerRequest(token: string, request: Request): ProviderRequest {
  return {
    token,
    package: packageOf(token),
    version: request.getVersion(),
    pluginDownloadURL: request.getPlugindownloadurl(),
    provider: request.getProvider(),
    providers:
      "getProvidersMap" in request ? Object.fromEntries(request.getProvidersMap().toObject(false)) : {},
    parent: "getParent" in request ? request.getParent() : "",
  };
}
