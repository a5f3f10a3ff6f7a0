import type { ActionConfig, PolicyRule, UnlistedAction } from "./policyTypes";

/** What a rule may have beside its action. */
export type RuleOptions = Pick<PolicyRule, "name" | "expressions">;

/** A rule for requests, of one action. */
type RequestRule = PolicyRule<"on_http_request">;

/**
 * Rules for `on_http_request` that most policies are made of.
 *
 * ```ts
 * trafficPolicy: {
 *   on_http_request: [
 *     rules.verify("github", config.requireSecret("webhookSecret")),
 *     rules.forwardTo("https://hooks.internal"),
 *   ],
 * },
 * ```
 */
export const rules = {
  /** Answers requests itself: `rules.answer({ status_code: 503, body: "Back soon." })`. */
  answer: (config: ActionConfig<"custom-response">, options: RuleOptions = {}): RequestRule => ({
    ...options,
    actions: [{ type: "custom-response", config }],
  }),

  /** Hands requests to an internal endpoint: `rules.forwardTo("https://app.internal")`. */
  forwardTo: (url: ActionConfig<"forward-internal">["url"], options: RuleOptions = {}): RequestRule => ({
    ...options,
    actions: [{ type: "forward-internal", config: { url } }],
  }),

  /** Refuses requests, with status 403 or another: `rules.refuse(404, { expressions: [ … ] })`. */
  refuse: (
    status_code: ActionConfig<"deny">["status_code"] = 403,
    options: RuleOptions = {},
  ): RequestRule => ({ ...options, actions: [{ type: "deny", config: { status_code } }] }),

  /** Lets through webhooks that the platform signed. `WebhookVerification` checks the secret's form, too. */
  verify: (
    provider: ActionConfig<"verify-webhook">["provider"],
    secret: ActionConfig<"verify-webhook">["secret"],
    options: RuleOptions = {},
  ): RequestRule => ({ ...options, actions: [{ type: "verify-webhook", config: { provider, secret } }] }),
};

/**
 * An action that this version of the package does not know, where `TrafficPolicy` is to accept it. A preview still warns
 * that it is not known.
 *
 * ```ts
 * actions: [unlistedAction("new-action", { key: "value" })],
 * ```
 */
export function unlistedAction(type: string, config?: object): UnlistedAction {
  const action = { type: type as UnlistedAction["type"], ...(config && { config }) };
  return action;
}
