import type { ImportSpec } from "../types";
import type { Place } from "./aliases";
import type { Checkpoint } from "./checkpoint";
import type { Report } from "./diffing";
import type { Executor } from "./executor";
import { checkMessages } from "./goalState";
import { withPlugin } from "./pluginInputs";
import { defaultName, packageConfig } from "./providerChoice";
import type { Registry } from "./registry";
import { createUrn, newState, providerType, type ResourceState, ROOT_STACK, typeOf } from "./resourceState";
import type { Step } from "./step";
import type { Props } from "./values";

/** Takes what exists into the state, by command and without a program. As the `importer`. */
export class Importer {
  constructor(
    private readonly place: Place,
    /** The whole stack configuration, which default providers are configured with. */
    private readonly config: Props,
    private readonly checkpoint: Checkpoint,
    private readonly executor: Executor,
    private readonly registry: Registry,
    private readonly report: Report,
  ) {}

  /** As `importResources`. Throws what is wrong with the whole; what is wrong with one resource fails its step. */
  async run(specs: ImportSpec[], protect: boolean): Promise<void> {
    this.refuseTwins(specs);
    if (!(await this.keepExisting())) return;
    const stack = await this.stack();
    const references = await this.providers(specs);
    const steps = new Map<string, Step>();
    for (const spec of specs) {
      const parent = spec.parent ?? stack;
      const urn = this.urn(parent, spec.type, spec.name);
      const old = this.old(urn);
      if (old && (old.importID || old.id) === spec.id) continue;
      const provider = references.get(this.providerUrn(spec)) ?? "";
      const state = newState(urn, spec.type, { custom: true, parent, protect, provider, importID: spec.id });
      const { properties = [] } = spec;
      const refusal = this.refusal(state, stack, [...steps.keys()]);
      const planned = { properties, ...(refusal !== undefined && { refusal }) };
      steps.set(urn, { op: "import", urn, new: state, logical: true, planned });
    }
    await this.parentsFirst([...steps.values()]);
  }

  /** As `parseImportFile`, which finds it out before anything is done. */
  private refuseTwins(specs: ImportSpec[]): void {
    const seen = new Set<string>();
    for (const { type, name, parent = "" } of specs) {
      const urn = this.urn(parent, type, name);
      if (seen.has(urn))
        throw new Error(
          `resource '${name}' of type '${type}' has an ambiguous URN, set name (or logical name) to be unique`,
        );
      seen.add(urn);
    }
  }

  private old(urn: string): ResourceState | undefined {
    return this.checkpoint.olds.find((old) => old.urn === urn && !old.delete);
  }

  private urn(parent: string, type: string, name: string): string {
    return createUrn(this.place.stack, this.place.project, parent, type, name);
  }

  /** What is in the state stays, in its order; as `registerExistingResources`. */
  private async keepExisting(): Promise<boolean> {
    for (const old of this.checkpoint.olds.filter((each) => !each.delete))
      if (!(await this.do({ op: "same", urn: old.urn, old, new: { ...old, id: "" }, logical: true })))
        return false;
    return true;
  }

  /** As `getOrCreateStackResource`. */
  private async stack(): Promise<string> {
    const old = this.checkpoint.olds.find(({ type, parent }) => type === ROOT_STACK && parent === "");
    if (old) return old.urn;
    const urn = this.urn("", ROOT_STACK, `${this.place.project}-${this.place.stack}`);
    await this.do({ op: "create", urn, new: newState(urn, ROOT_STACK, {}), logical: true });
    return urn;
  }

  /** The references of all providers that are needed, by URN. As `registerProviders`. */
  private async providers(specs: ImportSpec[]): Promise<Map<string, string>> {
    const references = new Map<string, string>();
    for (const spec of specs) {
      const urn = this.providerUrn(spec);
      if (references.has(urn)) continue;
      const old = this.old(urn);
      if (!old && spec.provider !== undefined)
        throw new Error(
          `the test engine imports with providers that are in the state only, and ${urn} is not`,
        );
      const { id } = old ?? (await this.createProvider(urn, spec));
      references.set(urn, `${urn}::${id}`);
    }
    return references;
  }

  private providerUrn({ provider, type, version = "", pluginDownloadUrl = "" }: ImportSpec): string {
    const name = defaultName({ version, pluginDownloadURL: pluginDownloadUrl });
    return provider ?? this.urn("", providerType(type.split(":")[0] ?? ""), name);
  }

  /** What goes into the state is the configuration as it was given, not as the provider's check has left it. */
  private async createProvider(urn: string, spec: ImportSpec): Promise<ResourceState> {
    const { type, version = "", pluginDownloadUrl = "" } = spec;
    const config = packageConfig(this.config, type.split(":")[0] ?? "");
    const inputs = withPlugin(config, { version, pluginDownloadURL: pluginDownloadUrl });
    const state = newState(urn, typeOf(urn), { custom: true, inputs });
    const { failures } = await this.registry.check(urn, {}, inputs);
    for (const message of checkMessages(state, failures)) this.report("error", message, urn);
    if (failures.length > 0) throw new Error("provider check failed");
    await this.do({ op: "create", urn, new: state, logical: true });
    return state;
  }

  /** Why this resource cannot be imported; as `ImportStep.Apply` finds out for an import by command. */
  private refusal({ urn, parent }: ResourceState, stack: string, planned: string[]): string | undefined {
    if (this.old(urn)) return `resource '${urn}' already exists`;
    const known = parent === stack || this.executor.news.has(parent) || planned.includes(parent);
    return known ? undefined : `unknown parent '${parent}' for resource '${urn}'`;
  }

  /** All at once, but for those whose parent is still to be imported. */
  private async parentsFirst(steps: Step[]): Promise<void> {
    const left = new Set(steps);
    while (left.size > 0 && !this.executor.canceled) {
      const waiting = new Set([...left].map(({ urn }) => urn));
      const ready = [...left].filter((step) => !waiting.has(step.new?.parent ?? ""));
      for (const step of ready) left.delete(step);
      await this.executor.together(ready);
    }
  }

  private async do(step: Step): Promise<boolean> {
    await (await this.executor.execute([step])).done;
    return !this.executor.canceled;
  }
}
