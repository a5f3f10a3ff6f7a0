import type { ActionConfig, PolicyRule, UnlistedAction } from "./policyTypes";

/** The other keys of a rule. */
export type RuleOptions = Pick<PolicyRule, "name" | "expressions">;

type RequestRule = PolicyRule<"on_http_request">;

/**
 * The most frequent rules for `on_http_request`.
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
  /** Sends a response: `rules.answer({ status_code: 503, body: "Back soon." })`. */
  answer: (config: ActionConfig<"custom-response">, options: RuleOptions = {}): RequestRule => ({
    ...options,
    actions: [{ type: "custom-response", config }],
  }),

  /** Forwards requests to an internal endpoint: `rules.forwardTo("https://app.internal")`. */
  forwardTo: (url: ActionConfig<"forward-internal">["url"], options: RuleOptions = {}): RequestRule => ({
    ...options,
    actions: [{ type: "forward-internal", config: { url } }],
  }),

  /** Refuses requests, with status 403 or another: `rules.refuse(404, { expressions: [ … ] })`. */
  refuse: (
    status_code: ActionConfig<"deny">["status_code"] = 403,
    options: RuleOptions = {},
  ): RequestRule => ({ ...options, actions: [{ type: "deny", config: { status_code } }] }),

  /** Requires webhooks that the platform signed. `WebhookVerification` also checks the form of the secret. */
  verify: (
    provider: ActionConfig<"verify-webhook">["provider"],
    secret: ActionConfig<"verify-webhook">["secret"],
    options: RuleOptions = {},
  ): RequestRule => ({ ...options, actions: [{ type: "verify-webhook", config: { provider, secret } }] }),
};

/**
 * An action that this version of the package does not know, as a type that `TrafficPolicy` accepts. A preview still warns of
 * it.
 *
 * ```ts
 * actions: [unlistedAction("new-action", { key: "value" })],
 * ```
 */
export function unlistedAction(type: string, config?: object): UnlistedAction {
  const action = { type: type as UnlistedAction["type"], ...(config && { config }) };
  return action;
}
