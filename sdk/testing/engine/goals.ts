import type { Callback } from "@pulumi/pulumi/proto/callback_pb";
import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import { TransformResourceOptions } from "@pulumi/pulumi/proto/resource_pb";
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
  version: string;
  pluginDownloadURL: string;
  /** The provider's reference. Empty for the default provider. */
  provider: string;
  parent: string;
}

/** The options of a registration in the form that transforms change. */
export type Options = TransformResourceOptions;

export function optionsOf(request: pb.RegisterResourceRequest): Options {
  const options = new TransformResourceOptions()
    .setImport(request.getImportid())
    .setDependsOnList(request.getDependenciesList())
    .setIgnoreChangesList(request.getIgnorechangesList())
    .setReplaceOnChangesList(request.getReplaceonchangesList())
    .setReplacementTrigger(request.getReplacementTrigger())
    .setVersion(request.getVersion())
    .setAliasesList(request.getAliasesList())
    .setProvider(request.getProvider())
    .setHideDiffList(request.getHidediffsList())
    .setCustomTimeouts(request.getCustomtimeouts())
    .setPluginDownloadUrl(request.getPlugindownloadurl())
    .setDeletedWith(request.getDeletedwith())
    .setReplaceWithList(request.getReplaceWithList())
    .setAdditionalSecretOutputsList(request.getAdditionalsecretoutputsList())
    .setHooks(request.getHooks());
  for (const [package_, provider] of request.getProvidersMap().toObject(false))
    options.getProvidersMap().set(package_, provider);
  if (request.hasProtect()) options.setProtect(request.getProtect() ?? false);
  if (request.hasRetainondelete()) options.setRetainOnDelete(request.getRetainondelete() ?? false);
  if (request.getDeletebeforereplacedefined() || request.getDeletebeforereplace())
    options.setDeleteBeforeReplace(request.getDeletebeforereplace());
  return options;
}

function refuseUnsupported(request: pb.RegisterResourceRequest, options: Options): void {
  const type = request.getType();
  const option = (name: string) => `the option ${name} (of ${request.getName()})`;
  const found: [boolean, string][] = [
    [request.getRemote(), `remote components (${type})`],
    [request.getCustom() && packageOf(type) === BUILT_IN, `resources of the type ${type}`],
    [options.hasHooks(), "resource hooks"],
    [request.getPackageref() !== "", `packages with parameters (${type})`],
    [options.getHideDiffList().length > 0, option("hideDiffs")],
    // The oldest supported SDKs do not have this method.
    [request.getEnvvarmappingsMap?.().getLength() > 0, option("envVarMappings")],
    [request.getPluginchecksumsMap().getLength() > 0, option("pluginChecksums")],
    [options.getDeletedWith() !== "", option("deletedWith")],
    [options.getReplaceWithList().length > 0, option("replaceWith")],
    [options.hasReplacementTrigger(), option("replacementTrigger")],
    [Object.values(options.getCustomTimeouts()?.toObject() ?? {}).some(Boolean), option("customTimeouts")],
  ];
  for (const [isAsked, what] of found) if (isAsked) throw new Unsupported(what);
}

type Dependencies = pb.RegisterResourceRequest.PropertyDependencies;

export function goalOf(request: pb.RegisterResourceRequest, options: Options): Goal {
  refuseUnsupported(request, options);
  const byProperty = [
    ...(request.getPropertydependenciesMap().entries() as Iterable<[string, Dependencies]>),
  ].map(([key, value]) => [key, sorted(value.getUrnsList())]);
  return {
    name: request.getName(),
    state: newState(request.getType(), {
      custom: request.getCustom(),
      parent: request.getParent(),
      inputs: fromStruct(request.getObject()),
      dependencies: sorted(request.getDependenciesList()),
      propertyDependencies: Object.fromEntries(byProperty),
      ignoreChanges: options.getIgnoreChangesList(),
      replaceOnChanges: options.getReplaceOnChangesList(),
      additionalSecretOutputs: options.getAdditionalSecretOutputsList(),
      importID: options.getImport(),
    }),
    protect: options.hasProtect() ? options.getProtect() : undefined,
    retainOnDelete: options.hasRetainOnDelete() ? options.getRetainOnDelete() : undefined,
    deleteBeforeReplace: options.hasDeleteBeforeReplace() ? options.getDeleteBeforeReplace() : undefined,
    aliases: options.getAliasesList().map((alias) => alias.getSpec()?.toObject() ?? { urn: alias.getUrn() }),
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

/** The provider that a function or a resource to read needs. */
export function providerRequest(
  token: string,
  request: pb.ReadResourceRequest | pb.ResourceInvokeRequest,
): ProviderRequest {
  return {
    token,
    version: request.getVersion(),
    pluginDownloadURL: request.getPlugindownloadurl(),
    provider: request.getProvider(),
    parent: "getParent" in request ? request.getParent() : "",
  };
}
