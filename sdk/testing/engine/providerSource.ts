import { mustReplace, resolveDiff } from "./diff";
import type { ProviderSource } from "./diffing";
import type { Registry } from "./registry";
import { isProviderType, type ResourceState } from "./resourceState";

export interface Providers extends ProviderSource {
  registerAlias(urn: string, alias: string): void;
  /** A provider that did not change is to be ready for its resources. */
  keep(state: ResourceState): Promise<void>;
}

/** Who is asked about which resource: the registry about providers, all others' own providers. As `getProvider`. */
export function providersOf(registry: Registry): Providers {
  return {
    of: async ({ type, provider }) => (isProviderType(type) ? registry : await registry.get(provider)),
    mustReplace: async (reference, old, { urn, inputs }) => {
      const subject = {
        urn,
        id: old.id,
        inputs: old.inputs,
        outputs: old.outputs ?? {},
        ignoreChanges: [],
      };
      const diff = await registry.diffConfig(reference, subject, inputs);
      return mustReplace(resolveDiff(diff, old.inputs, inputs));
    },
    registerAlias: (urn, alias) => registry.registerAlias(urn, alias),
    keep: (state) => registry.same(state),
  };
}
