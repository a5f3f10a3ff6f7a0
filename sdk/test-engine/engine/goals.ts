import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import { Unsupported } from "../errors";
import { newState, packageOf, type ResourceState } from "./checkpoint";
import { BUILT_IN } from "./mockedProvider";
import { fromStruct } from "./protocol";

/** The state that a program asks for in a registration. The state of a resource that is only read is `external`. */
export interface Goal {
  name: string;
  state: ResourceState;
  /** Undefined if the provider decides. */
  deleteBeforeReplace?: boolean | undefined;
  aliases: Alias[];
}

/** A former URN of a resource, or its parts that differ from the current URN. */
export type Alias = { urn: string } | ReturnType<NonNullable<ReturnType<PbAlias["getSpec"]>>["toObject"]>;
type PbAlias = ReturnType<pb.RegisterResourceRequest["getAliasesList"]>[number];

function assertSupported(request: pb.RegisterResourceRequest): void {
  const type = request.getType();
  const option = (name: string) => `the option ${name} (of ${request.getName()})`;
  const found: [boolean, string][] = [
    [request.getRemote(), `remote components (${type})`],
    [request.getCustom() && packageOf(type) === BUILT_IN, `resources of the type ${type}`],
    [request.getTransformsList().length > 0, option("transforms")],
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

/** The goal of a registration. @param parent Gives `retainOnDelete` to children. The SDK passes on its other options. */
export function goalOf(request: pb.RegisterResourceRequest, parent: ResourceState | undefined): Goal {
  assertSupported(request);
  const byProperty = [
    ...(request.getPropertydependenciesMap().entries() as Iterable<[string, Dependencies]>),
  ].map(([key, value]) => [key, sorted(value.getUrnsList())]);
  const isOrderGiven = request.getDeletebeforereplacedefined() || request.getDeletebeforereplace();
  const isRetained = request.hasRetainondelete() ? request.getRetainondelete() : parent?.retainOnDelete;
  return {
    name: request.getName(),
    state: newState(request.getType(), {
      custom: request.getCustom(),
      parent: request.getParent(),
      inputs: fromStruct(request.getObject()),
      protect: request.getProtect() ?? false,
      retainOnDelete: isRetained ?? false,
      dependencies: sorted(request.getDependenciesList()),
      propertyDependencies: Object.fromEntries(byProperty),
      ignoreChanges: request.getIgnorechangesList(),
      replaceOnChanges: request.getReplaceonchangesList(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      importID: request.getImportid(),
    }),
    deleteBeforeReplace: isOrderGiven ? request.getDeletebeforereplace() : undefined,
    aliases: request.getAliasesList().map((alias) => alias.getSpec()?.toObject() ?? { urn: alias.getUrn() }),
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
  return { name: request.getName(), state, aliases: [] };
}

const sorted = (urns: string[]) => [...new Set(urns)].sort();
