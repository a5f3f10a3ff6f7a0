import { readFileSync } from "node:fs";
import { z } from "zod";
import type { ImportFile, ImportSpec } from "../types";
import type { Executor } from "./apply";
import { checkMessages, type Report, type Step } from "./plan";
import { Unsupported } from "./project";
import type { Providers } from "./providers";
import {
  type Checkpoint,
  createUrn,
  newState,
  type Place,
  packageOf,
  providerType,
  type ResourceState,
  ROOT_STACK,
  rootUrn,
  typeOf,
} from "./state";

const specSchema = z.strictObject({
  type: z.string(),
  name: z.string(),
  id: z.string(),
  parent: z.string().optional(),
  provider: z.string().optional(),
  properties: z.array(z.string()).optional(),
});
const fileSchema = z.strictObject({
  nameTable: z.record(z.string(), z.string()).default({}),
  resources: z.array(specSchema),
});
type Spec = z.infer<typeof specSchema>;

/** Reads a list, or the file that `pulumi import --file` reads, in which parents and providers are names of a table. */
export function readSpecs(what: ImportSpec[] | ImportFile): Spec[] {
  const given = Array.isArray(what) ? { resources: what } : JSON.parse(readFileSync(what.file, "utf8"));
  const parsed = fileSchema.safeParse(given);
  if (!parsed.success) throw new Unsupported(`such an import:\n${z.prettifyError(parsed.error)}\nFor that`);
  const { nameTable, resources } = parsed.data;
  if (Array.isArray(what)) return resources;
  const urnOf = (name: string): string => {
    const urn = nameTable[name];
    if (urn === undefined)
      throw new Error(`the import file ${what.file} has no name ${name} in its nameTable`);
    return urn;
  };
  return resources.map((spec) => ({
    ...spec,
    ...(spec.parent !== undefined && { parent: urnOf(spec.parent) }),
    ...(spec.provider !== undefined && { provider: urnOf(spec.provider) }),
  }));
}

/** Takes what exists into the state, by command and without a program. */
export class Importer {
  constructor(
    private readonly place: Place,
    private readonly checkpoint: Checkpoint,
    private readonly executor: Executor,
    private readonly providers: Providers,
    private readonly report: Report,
  ) {}

  /** Throws what is wrong with the whole; what is wrong with one resource fails its step. */
  async run(specs: Spec[], protect: boolean): Promise<void> {
    const given = specs.map(({ parent = "", type, name }) => createUrn(this.place, parent, type, name));
    const twin = specs.find((_, i) => given.indexOf(given[i] ?? "") !== i);
    if (twin)
      throw new Error(
        `resource '${twin.name}' of type '${twin.type}' has an ambiguous URN, set name (or logical name) to be unique`,
      );
    // What is in the state stays, in its order.
    for (const old of this.checkpoint.olds.filter((each) => !each.delete)) {
      await this.do({ op: "same", urn: old.urn, old, new: { ...old, id: "" }, logical: true });
      if (this.executor.isCanceled) return;
    }
    const stack = await this.stack();
    const references = new Map<string, string>();
    for (const spec of specs) {
      const urn = this.providerUrn(spec);
      if (!references.has(urn)) references.set(urn, await this.providerReference(urn, spec));
    }
    const steps = new Map<string, Step>();
    for (const spec of specs) {
      const { type, name, id: importID, parent = stack, properties = [] } = spec;
      const urn = createUrn(this.place, parent, type, name);
      const old = this.old(urn);
      if (old && (old.importID || old.id) === importID) continue;
      const provider = references.get(this.providerUrn(spec)) ?? "";
      const state = newState(urn, type, { custom: true, parent, protect, provider, importID });
      const isParentKnown = parent === stack || this.executor.news.has(parent) || steps.has(parent);
      const unknown = isParentKnown ? undefined : `unknown parent '${parent}' for resource '${urn}'`;
      const refusal = old ? `resource '${urn}' already exists` : unknown;
      steps.set(urn, { op: "import", urn, new: state, logical: true, byCommand: { properties, refusal } });
    }
    await this.parentsFirst(new Set(steps.values()));
  }

  private old(urn: string): ResourceState | undefined {
    return this.checkpoint.olds.find((old) => old.urn === urn && !old.delete);
  }

  private async stack(): Promise<string> {
    const old = this.checkpoint.olds.find(({ type, parent }) => type === ROOT_STACK && parent === "");
    if (old) return old.urn;
    const urn = rootUrn(this.place);
    await this.do({ op: "create", urn, new: newState(urn, ROOT_STACK), logical: true });
    return urn;
  }

  private providerUrn({ provider, type }: Spec): string {
    return provider ?? createUrn(this.place, "", providerType(packageOf(type)), "default");
  }

  /** What goes into the state is the configuration as it was given, not as the provider's check has left it. */
  private async providerReference(urn: string, { provider, type }: Spec): Promise<string> {
    const old = this.old(urn);
    if (old) return `${urn}::${old.id}`;
    if (provider !== undefined)
      throw new Error(`the test engine imports with providers that are in the state only, and ${urn} is not`);
    const inputs = this.providers.configOf(packageOf(type));
    const state = newState(urn, typeOf(urn), { custom: true, inputs });
    const { failures } = await this.providers.check(urn, {}, inputs);
    for (const message of checkMessages(state, failures)) this.report("error", message, urn);
    if (failures.length > 0) throw new Error("provider check failed");
    await this.do({ op: "create", urn, new: state, logical: true });
    return `${urn}::${state.id}`;
  }

  /** All at once, but for those whose parent is still to be imported. */
  private async parentsFirst(left: Set<Step>): Promise<void> {
    while (left.size > 0 && !this.executor.isCanceled) {
      const waiting = new Set([...left].map(({ urn }) => urn));
      const ready = [...left].filter((step) => !waiting.has(step.new?.parent ?? ""));
      for (const step of ready) left.delete(step);
      await this.executor.together(ready);
    }
  }

  private async do(step: Step): Promise<void> {
    await (await this.executor.execute([step])).done;
  }
}
