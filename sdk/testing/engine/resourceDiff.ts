import type { Context } from "./apply";
import { providerUrn, type ResourceState } from "./checkpoint";
import type { Identities } from "./identities";
import { equal, type Props } from "./properties";
import { type Diff, ignoreChanges, resolveDiff, someDiff } from "./propertyDiff";
import type { Provider } from "./providerCalls";

/** Compares a resource with what the program wants. */
export class Differ {
  /** The providers that this run registered, by URN. */
  readonly newProviders = new Map<string, ResourceState>();

  constructor(
    private readonly context: Context,
    private readonly identities: Identities,
    /** URNs to replace though nothing about them changed. */
    private readonly forced: ReadonlySet<string>,
  ) {}

  async diff(old: ResourceState, next: ResourceState, provider: Provider | undefined): Promise<Diff> {
    // A forced replacement does not ask the provider, so only the resource's own option can change its order.
    if (this.forced.has(next.urn)) return someDiff("id");
    if (await this.isProviderReplaced(old, next)) return someDiff("provider");
    if (provider) return this.ask(provider, next.urn, old, next.inputs, next.ignoreChanges);
    return { ...someDiff(), changes: equal(old.inputs, next.inputs) ? "none" : "some" };
  }

  /** The diff of a resource's provider for new inputs. */
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

  /** A resource moves to another provider without a replacement, unless the change of configuration requires one. */
  private async isProviderReplaced(old: ResourceState, next: ResourceState): Promise<boolean> {
    if (old.provider === next.provider) return false;
    if (old.provider === "" || next.provider === "") return true;
    const before = this.identities.old(providerUrn(old.provider));
    const after = this.newProviders.get(providerUrn(next.provider));
    if (!before || !after) throw new Error(`failed to resolve provider reference: "${old.provider}"`);
    return this.context.providers.mustReplace(next.provider, before, after);
  }

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
