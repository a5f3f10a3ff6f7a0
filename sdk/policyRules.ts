import type * as pulumi from "@pulumi/pulumi";
import type * as policies from "./traffic-policy/index";
import { rules as plainRules } from "./traffic-policy/policy/index";

/* The types and rules of traffic-policy, in which values can be outputs. The names are the same, because the policies are. */

/** A value of a Pulumi program: plain, a promise or an output. */
interface Inputs extends policies.ValueWrapper {
  readonly wrapped: pulumi.Input<this["value"]>;
}

/** The config of an action: `ActionConfig<"rate-limit">`. */
export type ActionConfig<Type extends policies.ActionType> = policies.ActionConfig<Type, Inputs>;

/** An action with its config: `PolicyAction<"deny">`. Without a type argument, any action. */
export type PolicyAction<Type extends policies.ActionType = policies.ActionType> = policies.PolicyAction<
  Type,
  Inputs
>;

/** A rule of a phase. */
export interface PolicyRule<Phase extends policies.PhaseName = policies.PhaseName>
  extends policies.PolicyRule<Phase, Inputs> {}

/**
 * A traffic policy of phases, actions and keys that this version of the package knows. `trafficPolicy` accepts any object or
 * text. With this type, the compiler checks a policy.
 *
 * ```ts
 * const policy = {
 *   on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }],
 * } satisfies TrafficPolicy;
 * ```
 */
export type TrafficPolicy = policies.TrafficPolicy<Inputs>;

/** The other keys of a rule. */
export interface RuleOptions extends policies.RuleOptions<Inputs> {}

/** The functions of `rules`. With declared types, a library that exports their results can emit declarations. */
export interface Rules extends policies.Rules<Inputs, PolicyRule<"on_http_request">, RuleOptions> {
  answer(config: ActionConfig<"custom-response">, options?: RuleOptions): PolicyRule<"on_http_request">;
  deny(config?: ActionConfig<"deny">, options?: RuleOptions): PolicyRule<"on_http_request">;
}

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
// The cast is safe, because the rules put values into a policy and never read them.
export const rules = plainRules as Rules;
