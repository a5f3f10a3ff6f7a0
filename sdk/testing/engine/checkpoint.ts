import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { ExportedResource, ExportedState } from "../types";
import { propsFromState, propsToState } from "./properties";

const text = z.string().default("");
const flag = z.boolean().default(false);
const list = z.array(z.string()).default([]);
const properties = z.record(z.string(), z.unknown());

/** A resource in the format of `pulumi stack export`. Unknown fields are kept. */
const exported = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: flag,
  id: text,
  inputs: properties.default({}).transform(propsFromState),
  /** Undefined for a component that registered none. */
  outputs: properties.transform(propsFromState).optional(),
  parent: text,
  protect: flag,
  external: flag,
  /** Already replaced. The old resource must still be deleted. */
  delete: flag,
  /** Already deleted for a replacement. The new resource must still be created. */
  pendingReplacement: flag,
  dependencies: list,
  propertyDependencies: z.record(z.string(), z.array(z.string())).default({}),
  initErrors: list,
  /** `URN::id`. */
  provider: text,
  additionalSecretOutputs: list,
  retainOnDelete: flag,
  ignoreChanges: list,
  replaceOnChanges: list,
  /** The id in the resource option `import`. */
  importID: text,
  created: text,
  modified: text,
});

/**
 * The state of one resource. The steps and the checkpoint share these objects. Steps change `delete` and
 * `pendingReplacement` of old states in place, so that the checkpoint has the change at once.
 */
export type ResourceState = z.infer<typeof exported>;

/** A state without a URN. */
export function newState(type: string, fields: Partial<ResourceState>): ResourceState {
  return { ...exported.parse({ urn: "", type }), ...fields };
}

function fromExported(resource: unknown): ResourceState {
  const state = exported.parse(resource);
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
export const nameOf = (urn: string) => urn.split("::").slice(3).join("::");
/** The type in a URN, without those of its parents. */
export const typeOf = (urn: string) => (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
export const providerUrn = (reference: string) => reference.slice(0, reference.lastIndexOf("::"));
export const isProvider = (type: string) => type.startsWith(PROVIDERS);
/** The package of a resource type, a provider type or a function token. */
export const packageOf = (token: string) =>
  isProvider(token) ? token.slice(PROVIDERS.length) : (token.split(":")[0] ?? "");
export const providerType = (package_: string) => PROVIDERS + package_;
/** Whether the engine itself created this provider. */
export const isDefaultProvider = (urn: string) =>
  isProvider(typeOf(urn)) && nameOf(urn).startsWith("default");

/** The stack and the project in a run's URNs. */
export interface Place {
  stack: string;
  project: string;
}

/** The type of a URN contains the types of its parents, except for the stack. */
export function createUrn({ stack, project }: Place, parent: string, type: string, name: string): string {
  const ofParent = parent.split("::")[2] ?? "";
  const qualified = ofParent === "" || ofParent === ROOT_STACK ? type : `${ofParent}$${type}`;
  return `urn:pulumi:${stack}::${project}::${qualified}::${name}`;
}

export const rootUrn = (place: Place) => createUrn(place, "", ROOT_STACK, `${place.project}-${place.stack}`);

export type PendingType = "creating" | "updating" | "deleting" | "reading" | "importing";
interface Pending {
  resource: ResourceState;
  type: string;
}

/** The CLI version in the manifest. The state has the format of this version. */
const VERSION = "v3.260.0";

/**
 * The stack's state in a file. It is written before and after each step, so that after a killed run the file has the
 * completed steps and the interrupted ones.
 */
export class Checkpoint {
  /** The state before the run. */
  olds: ResourceState[] = [];
  /** The operations that were running when an earlier run was killed. */
  interrupted: Pending[] = [];
  /** States that the run has added. */
  private readonly news: ResourceState[] = [];
  /** States that the run has removed. */
  private readonly done = new Set<ResourceState>();
  private readonly pending = new Set<Pending>();
  private rest: Pick<ExportedState["deployment"], "secrets_providers" | "metadata"> = { metadata: {} };

  constructor(
    private readonly file: string,
    /** A preview does not write the file. */
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

  /** Writes that an operation begins. `end` writes its result. */
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
    // Only an interrupted create is kept, until the user clears it. For other operations, a refresh updates the state.
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
