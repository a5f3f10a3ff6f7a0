import type * as pulumi from "@pulumi/pulumi";
import type { ActionType, actions, KeyInfo, Keys, PhaseName, phases } from "../provider/policy/catalogue";

/*
 * The types of traffic policies, derived from the catalogue. Editors complete phases, actions and keys, and `satisfies
 * TrafficPolicy` refuses unknown ones. `unlistedAction` writes an action that the catalogue lacks.
 */

type Actions = typeof actions;

/** The type of a single value. Editors offer the known values; others are accepted. */
type Single<K extends KeyInfo> = K extends { values: readonly (infer Known)[] }
  ? Known | (string & {})
  : { [kind in KeyInfo["kind"]]: KindOf[kind] }[K["kind"]];

interface KindOf {
  text: string;
  duration: string;
  integer: number;
  number: number;
  boolean: boolean;
  "map of text": Record<string, pulumi.Input<string>>;
  map: Record<string, unknown>;
  object: object;
}

/** Outputs are accepted for values, not for the objects around them. This keeps the compiler's messages short. */
type Value<K extends KeyInfo> = K extends { keys: infer Nested extends Keys }
  ? Listed<K, Fields<Nested>, Fields<Nested>>
  : pulumi.Input<Listed<K, Single<K>, pulumi.Input<Single<K>>>>;

type Listed<K extends KeyInfo, One, Item> = K extends { list: true }
  ? Item[]
  : K extends { list: "or one" }
    ? Item[] | One
    : One;

/** The keys that are required and have no default. */
type Required<K extends Keys> = {
  [name in keyof K]: K[name] extends { default: unknown }
    ? never
    : K[name] extends { required: true }
      ? name
      : never;
}[keyof K];

// Mapped types without `as` keep the comments of the catalogue's keys, which editors show.
type Given<K extends Keys, Names extends keyof K> = { [name in Names]: Value<K[name]> };
type Optional<K extends Keys, Names extends keyof K> = { [name in Names]?: Value<K[name]> | undefined };
type Fields<K extends Keys> = Given<K, Required<K>> & Optional<K, Exclude<keyof K, Required<K>>>;

/** The config of an action: `ActionConfig<"rate-limit">`. */
export type ActionConfig<Type extends ActionType> = Fields<Actions[Type]["keys"]>;

/** An action with its config: `PolicyAction<"deny">`. Without a type argument, any action. */
export type PolicyAction<Type extends ActionType = ActionType> = Type extends ActionType
  ? Required<Actions[Type]["keys"]> extends never
    ? { type: Type; config?: ActionConfig<Type> | undefined }
    : { type: Type; config: ActionConfig<Type> }
  : never;

declare const unlisted: unique symbol;

/** An action that this version of the package does not know, made by `unlistedAction`. */
export interface UnlistedAction {
  // Without config: if all members had one, the compiler would report a mistake in one of them for the whole union.
  type: string & { readonly [unlisted]: true };
}

type ActionsOf<Phase extends PhaseName> = {
  [Type in ActionType]: Phase extends Actions[Type]["phases"][number] ? Type : never;
}[ActionType];

/** A rule of a phase. */
export interface PolicyRule<Phase extends PhaseName = PhaseName> {
  /** A description of the rule. */
  name?: pulumi.Input<string> | undefined;
  /** CEL expressions that select the traffic; all of them must be true. Without expressions the rule applies to all traffic. */
  expressions?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** The actions, which run in this order. */
  actions: (PolicyAction<ActionsOf<Phase>> | UnlistedAction)[];
}

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
export type TrafficPolicy = { [Phase in keyof typeof phases]?: PolicyRule<Phase>[] | undefined };

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
