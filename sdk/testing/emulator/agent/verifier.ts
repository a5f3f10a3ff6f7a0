import { FREE_VERIFICATIONS_PER_MONTH, platformInfo } from "../../../webhookPlatforms";
import { vaultReference } from "../../../webhookSecret";
import type { Policy, VerifyConfig } from "./policy";
import { isSigned, schemes } from "./schemes";
import { requireKey, type Verdict, verifyWebhook } from "./signatures";
import type { Visit } from "./variables";

/** What verifying depends on, beside the policy. */
export interface Account {
  /**
   * The account's plan. With `free` the agent stops verifying after 500 requests: it refuses what it cannot verify.
   * What the service does then is not documented. Default: `pro`, which has no limit.
   */
  plan?: "free" | "pro" | "enterprise";
  /** The service's vaults, for secrets that refer to one: `{ webhooks: { brex: "…" } }`. Default: none. */
  vaults?: Record<string, Record<string, string>>;
  /** The clock that signed times are held against. Default: this machine's. */
  now?: () => Date;
}

/** Verifies the requests of one policy, and counts. */
export class Verifier {
  /** How many signatures were verified, the bad ones too. */
  count = 0;
  private readonly limit: number;
  private readonly secrets = new Map<string, string>();
  private readonly now: () => Date;

  /** @throws Error for a platform whose scheme is not known, and a secret that is missing or cannot be the platform's. */
  constructor(policy: Policy, { plan, vaults = {}, now = () => new Date() }: Account) {
    this.limit = plan === "free" ? FREE_VERIFICATIONS_PER_MONTH : Number.POSITIVE_INFINITY;
    this.now = now;
    for (const { type, config } of policy.on_http_request.flatMap(({ actions }) => actions)) {
      if (type !== "verify-webhook") continue;
      if (!isSigned(config.provider)) {
        // What the catalogue does not have may be the secret in the wrong place.
        const name = platformInfo(config.provider)?.name ?? "the policy's provider";
        throw new Error(
          `the stand-in does not know how ${name} signs; it knows ${Object.keys(schemes).join(", ")}`,
        );
      }
      if (config.secret === undefined)
        throw new Error(`${config.provider} needs a secret to be verified here`);
      const secret = resolved(config.secret, vaults);
      requireKey(config.provider, secret);
      this.secrets.set(config.secret, secret);
    }
  }

  verify(config: VerifyConfig, { headers, body }: Visit): Verdict {
    const secret = this.secrets.get(config.secret ?? "");
    if (secret === undefined) return { verified: false, reason: "there is no secret to verify it with" };
    if (this.count >= this.limit) {
      return {
        verified: false,
        reason: `a free account verifies ${this.limit} requests a month, and has done so`,
      };
    }
    this.count += 1;
    return verifyWebhook(config.provider, { headers, body, secret, now: this.now() });
  }
}

/** The secret itself, also where the policy names the vault's entry that holds it. */
function resolved(secret: string, vaults: Record<string, Record<string, string>>): string {
  const reference = vaultReference(secret);
  if (!reference) return secret;
  const { vault, name } = reference;
  const entry = vaults[vault]?.[name];
  if (entry === undefined) throw new Error(`the vault ${vault} has no entry ${name}; give it in vaults`);
  return entry;
}
