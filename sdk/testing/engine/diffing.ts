import { type Diff, resolveDiff, someDiff } from "./diff";
import type { Identities } from "./identities";
import { parsePath, resetPath } from "./paths";
import { DiffUnavailable, type Provider } from "./provider";
import { providerUrn, type ResourceState } from "./resourceState";
import { copyProps, equal, type Props } from "./values";

export type Report = (severity: "info" | "warning" | "error", message: string, urn?: string) => void;

/** The provider of a state, and whether it may take over from another one. */
export interface ProviderSource {
  of(state: Pick<ResourceState, "type" | "provider">): Promise<Provider>;
  /** What the provider of a reference makes of another one's configuration; true where it asks for a replacement. */
  mustReplace(reference: string, old: ResourceState, next: ResourceState): Promise<boolean>;
}

/** Finds what changes for a resource. */
export class Diffing {
  /** The providers that were registered in this run, by URN, former ones too; as `sg.providers`. */
  readonly providers = new Map<string, ResourceState>();

  constructor(
    private readonly source: ProviderSource,
    private readonly identities: Identities,
    private readonly replaceTargets: Set<string>,
    private readonly report: Report,
  ) {}

  /** Whether the resource is to be replaced though nothing about it changed; as `isTargetedReplace`. */
  isForced(urn: string): boolean {
    return this.replaceTargets.has(urn);
  }

  /** As `stepGenerator.diff`. */
  async diff(
    old: ResourceState,
    next: ResourceState,
    inputs: Props,
    provider: Provider | undefined,
    ignored: string[],
  ): Promise<Diff> {
    // A forced replacement never asks the provider, so that only the resource's own option can turn its order around.
    if (this.isForced(next.urn)) return someDiff(["id"]);
    if (await this.providerChanged(old, next)) return someDiff(["provider"]);
    if (provider) return this.ask(provider, next.urn, old, inputs, ignored);
    return { ...someDiff(), changes: equal(old.inputs, inputs) ? "none" : "some" };
  }

  /** What a resource's provider says about new inputs; as `diffResource`. */
  async ask(
    provider: Provider,
    urn: string,
    old: ResourceState,
    inputs: Props,
    ignoreChanges: string[],
  ): Promise<Diff> {
    const subject = { urn, id: old.id, inputs: old.inputs, outputs: old.outputs ?? {}, ignoreChanges };
    try {
      const asked = await provider.diff(subject, inputs);
      return resolveDiff(asked, old.inputs, this.ignoreChanges(urn, inputs, old.inputs, ignoreChanges));
    } catch (error) {
      if (!(error instanceof DiffUnavailable)) throw error;
      this.report("warning", error.message, urn);
      return someDiff();
    }
  }

  /**
   * Another provider takes a resource over unless its own view of the old configuration is that all resources have to be
   * made anew; one that only got a new name always does. As `providerChanged`.
   */
  private async providerChanged(old: ResourceState, next: ResourceState): Promise<boolean> {
    if (old.provider === next.provider) return false;
    if (old.provider === "" || next.provider === "") return true;
    const [from, to] = [providerUrn(old.provider), providerUrn(next.provider)];
    if (from !== to && this.identities.present(from) === to) return false;
    const [before, after] = [this.identities.old(from), this.providers.get(to)];
    if (!before || !after) throw new Error(`failed to resolve provider reference: "${old.provider}"`);
    return this.source.mustReplace(next.provider, before, after);
  }

  /** As `processIgnoreChanges`. */
  ignoreChanges(urn: string, inputs: Props, olds: Props, ignored: string[]): Props {
    if (ignored.length === 0) return inputs;
    const result = copyProps(inputs);
    const failed = ignored.filter((text) => {
      const path = parsePath(text);
      return path !== undefined && !resetPath(path, copyProps(olds), result);
    });
    if (failed.length > 0) {
      const paths = JSON.stringify(failed.join(", "));
      this.report("info", `cannot ignore changes in added or removed elements of the path: ${paths}`, urn);
    }
    return result;
  }
}
