import { webhookScheme } from "../webhooks/schemes";
import { keyProblem, secretProblem, usableSecret, vaultReference } from "../webhooks/secretForms";

/** The entries of vaults by name. */
export type Vaults = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Undefined if it is not given, also under a name of a property of every object. */
export function vaultEntry(vaults: Vaults, vault: string, name: string): string | undefined {
  const entries = Object.hasOwn(vaults, vault) ? vaults[vault] : undefined;
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** What verify-webhook verifies. */
interface Verification {
  provider: string;
  secret?: string | undefined;
}

/**
 * Returns the secret of a verification. If the policy refers to a vault, this is the entry of the vault.
 *
 * @throws Error if the platform's scheme is unknown, or if the secret is not valid for it. An invalid secret can give an
 *   empty key, with which anyone can sign.
 */
export function secretOf({ provider, secret = "" }: Verification, vaults: Vaults): string {
  webhookScheme(provider);
  const reference = vaultReference(secret);
  if (!reference) return usableSecret(provider, secret, secretProblem(provider, secret));
  const { vault, name } = reference;
  const entry = vaultEntry(vaults, vault, name);
  if (entry === undefined)
    throw new Error(`the vault ${vault} has no entry ${name}; add it to the option vaults`);
  return usableSecret(provider, entry, keyProblem(provider, entry));
}
