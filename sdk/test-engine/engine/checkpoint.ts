import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { propsFromState } from "../../pulumi-cli/index";
import { propsToState } from "../properties";
import type { ExportedResource, ExportedState } from "../types";

const optionalText = z.string().default("");
const optionalFlag = z.boolean().default(false);
const optionalTexts = z.array(z.string()).default([]);
const properties = z.record(z.string(), z.unknown());

/** A resource in the format of `pulumi stack export`. Unknown fields are kept. */
const exportedSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: optionalFlag,
  id: optionalText,
  inputs: properties.default({}).transform(propsFromState),
  /** Undefined for a component that registered no outputs. */
  outputs: properties.transform(propsFromState).optional(),
  parent: optionalText,
  protect: optionalFlag,
  external: optionalFlag,
  /** Whether the resource was replaced, and the old one must still be deleted. */
  delete: optionalFlag,
  /** Whether the resource was deleted for a replacement, and the new one must still be created. */
  pendingReplacement: optionalFlag,
  dependencies: optionalTexts,
  propertyDependencies: z.record(z.string(), z.array(z.string())).default({}),
  /** The reference of the provider: `URN::id`. */
  provider: optionalText,
  additionalSecretOutputs: optionalTexts,
  retainOnDelete: optionalFlag,
  ignoreChanges: optionalTexts,
  replaceOnChanges: optionalTexts,
  /** Why the last create or update succeeded only in part. The next update repairs the resource. */
  initErrors: optionalTexts,
  /** The id in the resource option `import`. */
  importID: optionalText,
  created: optionalText,
  modified: optionalText,
});

/**
 * The state of one resource. Steps and the checkpoint share these objects: steps change `delete` and `pendingReplacement` of old
 * states in place, so that the checkpoint has the change at once.
 */
export type ResourceState = z.infer<typeof exportedSchema>;

export function newState(type: string, fields: Partial<ResourceState>): ResourceState {
  return { ...exportedSchema.parse({ urn: "", type }), ...fields };
}

function fromExported(resource: unknown): ResourceState {
  const state = exportedSchema.parse(resource);
  return { ...state, outputs: state.outputs ?? {} };
}

function toExported({ urn, type, custom, ...rest }: ResourceState): ExportedResource {
  const { inputs, outputs, propertyDependencies } = rest;
  const fields = {
    ...rest,
    inputs: propsToState(inputs),
    outputs: outputs && propsToState(outputs),
    propertyDependencies: propsToState(propertyDependencies),
  };
  // The CLI leaves out empty fields.
  const filled = Object.entries(fields).filter(([, value]) =>
    typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value),
  );
  return { ...Object.fromEntries(filled), urn, type, custom };
}

export const ROOT_STACK = "pulumi:pulumi:Stack";
const PROVIDERS = "pulumi:providers:";

/** The name in `urn:pulumi:stack::project::type::name`. It can contain `::`. */
export const nameInUrn = (urn: string) => urn.split("::").slice(3).join("::");
/** The type in a URN, without those of its parents. */
export const typeInUrn = (urn: string) => (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
export const providerUrn = (reference: string) => reference.slice(0, reference.lastIndexOf("::"));
export const isProvider = (type: string) => type.startsWith(PROVIDERS);
/** The package of a resource type, a provider type or a function token. */
export const packageOf = (token: string) =>
  isProvider(token) ? token.slice(PROVIDERS.length) : (token.split(":")[0] ?? "");
export const providerType = (package_: string) => PROVIDERS + package_;
/** Whether Pulumi's engine treats a provider as its own default. It only looks at the name, so a user's `default-eu` counts. */
export const isDefaultProvider = (urn: string) =>
  isProvider(typeInUrn(urn)) && nameInUrn(urn).startsWith("default");

/** Whether results report the steps of this resource. They leave out the stack and providers. */
export const isUserResource = (urn: string) => typeInUrn(urn) !== ROOT_STACK && !isProvider(typeInUrn(urn));

/** The first parts of a run's URNs. */
export interface UrnScope {
  stack: string;
  project: string;
}

/** A URN. Its type begins with the types of the parents, except for the stack. */
export function createUrn({ stack, project }: UrnScope, parent: string, type: string, name: string): string {
  const ofParent = parent.split("::")[2] ?? "";
  const qualified = ofParent === "" || ofParent === ROOT_STACK ? type : `${ofParent}$${type}`;
  return `urn:pulumi:${stack}::${project}::${qualified}::${name}`;
}

export const rootUrn = (scope: UrnScope) =>
  createUrn(scope, "", ROOT_STACK, `${scope.project}-${scope.stack}`);

export type PendingType = "creating" | "updating" | "deleting" | "reading" | "importing";
interface Pending {
  resource: ResourceState;
  type: string;
}

/** The CLI version in the manifest. The state has the format of this version. */
const VERSION = "v3.260.0";

/**
 * The stack's state in a file. The file is written before and after each step, so that after a killed run it has the completed
 * and the interrupted steps.
 */
export class Checkpoint {
  olds: ResourceState[] = [];
  /** The operations that were running when an earlier run was killed. */
  interrupted: Pending[] = [];
  private readonly news: ResourceState[] = [];
  private readonly done = new Set<ResourceState>();
  private readonly pending = new Set<Pending>();
  private rest: Pick<ExportedState["deployment"], "secrets_providers" | "metadata"> = { metadata: {} };

  constructor(
    private readonly file: string,
    private readonly dryRun = false,
  ) {
    if (existsSync(file)) this.load(JSON.parse(readFileSync(file, "utf8")));
  }

  load({ version, deployment }: ExportedState): void {
    if (version !== 3) throw new Error(`the test engine reads states of version 3, not ${version}`);
    const { resources = [], pending_operations = [], secrets_providers, metadata = {} } = deployment;
    this.olds = resources.map(fromExported);
    this.interrupted = pending_operations.map(({ resource, type }) => ({
      resource: fromExported(resource),
      type,
    }));
    this.rest = { metadata, ...(secrets_providers && { secrets_providers }) };
  }

  begin(operation: Pending): void {
    this.pending.add(operation);
    this.save();
  }

  end(operation: Pending): void {
    this.pending.delete(operation);
    this.save();
  }

  drop(old: ResourceState): void {
    this.done.add(old);
  }

  add(state: ResourceState): void {
    this.news.push(state);
  }

  snapshot(): ResourceState[] {
    return [...this.news, ...this.olds].filter((state) => !this.done.has(state));
  }

  export(): ExportedState {
    const states = this.snapshot();
    // Keeps interrupted creates until the user clears them. For other operations, a refresh updates the state.
    const pending = [...this.pending, ...this.interrupted.filter(({ type }) => type === "creating")];
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

/** The URNs that a resource depends on, without its parent. */
function requiredUrns({ dependencies, propertyDependencies, provider }: ResourceState): Set<string> {
  const urns = [...dependencies, ...Object.values(propertyDependencies).flat()];
  return new Set(provider === "" ? urns : [...urns, providerUrn(provider)]);
}

/** The later states that depend directly or indirectly on a state, in order. A child is not a dependent. */
export function dependentsOf(
  root: ResourceState,
  states: ResourceState[],
  ignore: ReadonlySet<string> = new Set(),
): ResourceState[] {
  const found = new Set([root.urn]);
  return states.slice(states.indexOf(root) + 1).filter((state) => {
    if (ignore.has(state.urn) || ![...requiredUrns(state)].some((urn) => found.has(urn))) return false;
    return found.add(state.urn);
  });
}

/**
 * All states that a state depends on, including parents. If a URN has two states, a replaced state depends on the replaced one.
 */
export function requirementsOf(root: ResourceState, states: ResourceState[]): Set<ResourceState> {
  const found = new Set<ResourceState>();
  const visit = (state: ResourceState): void => {
    for (const urn of [...requiredUrns(state), state.parent]) {
      const named = states.filter((candidate) => candidate.urn === urn);
      const next = named.find((candidate) => candidate.delete === state.delete) ?? named[0];
      if (next === undefined || found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(root);
  return found;
}

/** The states to delete, in groups in the order of deletion: dependents come first. */
export function deleteOrder(deletions: Iterable<ResourceState>, states: ResourceState[]): ResourceState[][] {
  const left = new Set(deletions);
  const groups: ResourceState[][] = [];
  while (left.size > 0) {
    const free = [...left].filter((state) => {
      const needed = requiredUrns(state).add(state.parent);
      const before = states.slice(0, states.indexOf(state));
      return !before.some((candidate) => left.has(candidate) && needed.has(candidate.urn));
    });
    if (free.length === 0) throw new Error("the dependencies in the state form a cycle");
    for (const state of free) left.delete(state);
    groups.unshift(free);
  }
  return groups;
}

/** Removes references to resources that no longer exist. A state can refer only to earlier states. */
export function withoutMissingReferences(states: ResourceState[]): ResourceState[] {
  const known = new Set<string>();
  for (const state of states) {
    const left = (urns: string[]) => urns.filter((urn) => known.has(urn));
    const byProperty = Object.entries(state.propertyDependencies).map(
      ([key, urns]) => [key, left(urns)] as const,
    );
    state.dependencies = left(state.dependencies);
    state.propertyDependencies = Object.fromEntries(byProperty.filter(([, urns]) => urns.length > 0));
    if (!known.has(state.parent)) state.parent = "";
    known.add(state.urn);
  }
  return states;
}
