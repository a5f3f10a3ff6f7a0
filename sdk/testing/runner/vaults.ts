/** The entries of vaults by name. */
export type Vaults = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Undefined if it is not given, also under a name of a property of every object. */
export function vaultEntry(vaults: Vaults, vault: string, name: string): string | undefined {
  const entries = Object.hasOwn(vaults, vault) ? vaults[vault] : undefined;
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}
