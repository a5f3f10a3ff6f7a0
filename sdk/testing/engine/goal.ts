import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import type { Timeouts } from "./resourceState";
import { type Props, propsFromWire } from "./values";

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
  aliases: string[];
  customTimeouts: Timeouts;
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
  if (request.getImportid() !== "") return `the option import (of ${request.getName()})`;
  if (request.getTransformsList().length > 0) return "transforms";
  if (request.hasHooks()) return "resource hooks";
  if (request.getType().startsWith("pulumi:providers:")) return `explicit providers (${request.getName()})`;
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
    aliases: request.getAliasurnsList(),
    customTimeouts: {
      ...seconds("create", timeouts?.getCreate()),
      ...seconds("update", timeouts?.getUpdate()),
      ...seconds("delete", timeouts?.getDelete()),
      ...seconds("read", timeouts?.getRead?.()),
    },
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
