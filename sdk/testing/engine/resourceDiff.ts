import type { Context } from "./apply";
import { providerUrn, type ResourceState } from "./checkpoint";
import type { Identities } from "./identities";
import { equal, type Props } from "./properties";
import { type Diff, ignoreChanges, resolveDiff, someDiff } from "./propertyDiff";
import type { Provider } from "./providerCalls";

/** Compares the old state of a resource with the desired one. */
export class Differ {
  /** The providers that this run registered, by URN. */
  readonly newProviders = new Map<string, ResourceState>();

  constructor(
    private readonly context: Context,
    private readonly identities: Identities,
    /** URNs of resources to replace even if they do not change. */
    private readonly forced: ReadonlySet<string>,
  ) {}

  async diff(old: ResourceState, next: ResourceState, provider: Provider | undefined): Promise<Diff> {
    // For a forced replacement the provider is not asked. Only the option `deleteBeforeReplace` can change its order.
    if (this.forced.has(next.urn)) return someDiff("id");
    if (await this.isProviderReplaced(old, next)) return someDiff("provider");
    if (provider) return this.ask(provider, next.urn, old, next.inputs, next.ignoreChanges);
    return { ...someDiff(), changes: equal(old.inputs, next.inputs) ? "none" : "some" };
  }

  /** Asks the provider for a diff. */
  async ask(
    provider: Provider,
    urn: string,
    old: ResourceState,
    inputs: Props,
    ignored: string[],
  ): Promise<Diff> {
    const diff = await provider.diff({ ...old, urn }, inputs, ignored);
    return resolveDiff(diff, old.inputs, this.withIgnored(urn, inputs, old.inputs, ignored));
  }

  /** Whether a move to another provider requires a replacement. The new provider decides it from both configurations. */
  private async isProviderReplaced(old: ResourceState, next: ResourceState): Promise<boolean> {
    if (old.provider === next.provider) return false;
    if (old.provider === "" || next.provider === "") return true;
    const before = this.identities.old(providerUrn(old.provider));
    const after = this.newProviders.get(providerUrn(next.provider));
    if (!before || !after) throw new Error(`failed to resolve provider reference: "${old.provider}"`);
    return this.context.providers.mustReplace(next.provider, before, after);
  }

  /** The inputs without the changes that the option `ignoreChanges` names. */
  withIgnored(urn: string, inputs: Props, olds: Props, paths: string[]): Props {
    if (paths.length === 0) return inputs;
    const ignored = ignoreChanges(inputs, olds, paths);
    if (ignored.failed.length > 0) {
      const failed = JSON.stringify(ignored.failed.join(", "));
      this.context.summary.report(
        "info",
        `cannot ignore changes in added or removed elements of the path: ${failed}`,
        urn,
      );
    }
    return ignored.inputs;
  }
}
