import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { ExportedState } from "../types";
import {
  createUrn,
  fromExported,
  nameOf,
  providerUrn,
  type ResourceState,
  ROOT_STACK,
  toExported,
  typeOf,
} from "./resourceState";
import type { Props } from "./values";

export type PendingType = "creating" | "updating" | "deleting" | "reading" | "importing";
interface Pending {
  resource: ResourceState;
  type: string;
}

/** The version in the manifest: that of the CLI whose form the state has. */
const VERSION = "v3.260.0";

/**
 * The stack's state in a file. Each step writes it before and after, so that a killed run leaves on disk what it had
 * done and what it was about to do. As the `SnapshotManager`: the base is what the run began with, resources are what
 * it has made since, and what a step has dealt with leaves the base.
 */
export class Checkpoint {
  private base: ResourceState[] = [];
  private basePending: Pending[] = [];
  private resources: ResourceState[] = [];
  private readonly done = new Set<ResourceState>();
  private readonly pending = new Set<Pending>();
  private rest: Pick<ExportedState["deployment"], "secrets_providers" | "metadata"> = { metadata: {} };

  constructor(
    private readonly file: string,
    /** A preview decides on the same state and writes nothing. */
    private readonly dryRun = false,
  ) {
    if (existsSync(file)) this.load(JSON.parse(readFileSync(file, "utf8")));
  }

  get olds(): ResourceState[] {
    return this.base;
  }

  get pendingOperations(): { urn: string; type: string }[] {
    return this.basePending.map(({ resource, type }) => ({ urn: resource.urn, type }));
  }

  load(state: ExportedState): void {
    if (state.version !== 3)
      throw new Error(`the test engine reads states of version 3, not ${state.version}`);
    const { resources = [], pending_operations = [], secrets_providers, metadata } = state.deployment;
    this.base = resources.map(fromExported);
    this.basePending = pending_operations.map(({ resource, type }) => ({
      resource: fromExported(resource),
      type,
    }));
    this.rest = { metadata: metadata ?? {}, ...(secrets_providers && { secrets_providers }) };
  }

  /** Notes on disk that an operation is about to begin; the function returned notes how it ended. */
  begin(type: PendingType, resource: ResourceState): (change: () => void) => void {
    const operation = { resource, type };
    this.pending.add(operation);
    this.save();
    return (change) => {
      this.pending.delete(operation);
      change();
      this.save();
    };
  }

  /** `old` is no longer part of the state; as `markDone`. */
  markDone(old: ResourceState): void {
    this.done.add(old);
  }

  /** `state` is part of the state from now on; as `markNew`. */
  markNew(state: ResourceState): void {
    this.resources.push(state);
  }

  /** Replaces what the run began with; a refresh does, as `rebuildBaseState`. */
  rebase(states: ResourceState[]): void {
    this.base = states;
    this.save();
  }

  /** Forgets operations whose outcome nobody knows, as `pulumi refresh --clear-pending-creates` does for creations. */
  clearPending(keep: (type: string) => boolean): void {
    this.basePending = this.basePending.filter(({ type }) => keep(type));
  }

  /** As `SnapshotManager.Snap`: what the run made, then what is left of the base. */
  snapshot(): ResourceState[] {
    return [...this.resources, ...this.base].filter((state) => !this.done.has(state));
  }

  stackOutputs(): Props {
    return this.snapshot().find(({ type }) => type === ROOT_STACK)?.outputs ?? {};
  }

  export(): ExportedState {
    const states = renameAliased(this.snapshot());
    // Operations of the past that were creating something stay until somebody has looked; see `SnapshotManager.Snap`.
    const pending = [...this.pending, ...this.basePending.filter(({ type }) => type === "creating")];
    return {
      version: 3,
      deployment: {
        manifest: {
          time: new Date().toISOString(),
          magic: createHash("sha256").update(VERSION).digest("hex"),
          version: VERSION,
        },
        ...this.rest,
        ...(states.length > 0 && { resources: states.map(toExported) }),
        ...(pending.length > 0 && {
          pending_operations: pending.map(({ resource, type }) => ({ resource: toExported(resource), type })),
        }),
      },
    };
  }

  save(): void {
    if (this.dryRun) return;
    const temporary = `${this.file}.${process.pid}.tmp`;
    writeFileSync(temporary, JSON.stringify(this.export()), { mode: 0o600 });
    renameSync(temporary, this.file);
  }
}

/**
 * Points references to a resource's former URN at its present one, and gives the children of a renamed parent, which are
 * registered after it, the URNs that they will have. As `NormalizeURNReferences`.
 */
function renameAliased(states: ResourceState[]): ResourceState[] {
  const renamed = new Map<string, string>();
  for (const { urn, type, parent, aliases } of states) {
    for (const alias of aliases) renamed.set(alias, urn);
    const present = renamed.get(parent);
    if (present === undefined || typeOf(present) === ROOT_STACK) continue;
    const [stack = "", project = ""] = urn.slice("urn:pulumi:".length).split("::");
    renamed.set(urn, createUrn(stack, project, present, type, nameOf(urn)));
  }
  if (renamed.size === 0) return states;
  const fix = (urn: string): string => renamed.get(urn) ?? urn;
  const fixReference = (reference: string): string => {
    const urn = providerUrn(reference);
    return fix(urn) + reference.slice(urn.length);
  };
  return states.map((state) => ({
    ...state,
    urn: fix(state.urn),
    provider: state.provider && fixReference(state.provider),
    parent: fix(state.parent),
    dependencies: state.dependencies.map(fix),
    propertyDependencies: Object.fromEntries(
      Object.entries(state.propertyDependencies).map(([key, urns]) => [key, urns.map(fix)]),
    ),
  }));
}
