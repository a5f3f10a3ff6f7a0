import type { ActionType, actions, KeyInfo, Keys, PhaseName, phases } from "./catalogue";

/*
 * The types of traffic policies, derived from the catalogue. Editors complete phases, actions and keys, and `satisfies
 * TrafficPolicy` refuses unknown ones. `unlistedAction` writes an action that the catalogue lacks.
 */

/**
 * Lets `pulumi-endpoints` accept `pulumi.Input<T>` where this package has plain values. An interface that extends this one says
 * in `wrapped` which type may replace the type `value`.
 */
export interface ValueWrapper {
  readonly value: unknown;
  readonly wrapped: unknown;
}

/** Plain values: nothing else may replace them. */
interface PlainValues extends ValueWrapper {
  readonly wrapped: this["value"];
}

type Input<G extends ValueWrapper, T> = (G & { readonly value: T })["wrapped"];

type Actions = typeof actions;

/** The type of a single value. Editors suggest the known values, and the compiler accepts others. */
type Single<K extends KeyInfo, G extends ValueWrapper> = K extends { values: readonly (infer Known)[] }
  ? Known | (string & {})
  : { [kind in KeyInfo["kind"]]: ValueOfKind<G>[kind] }[K["kind"]];

interface ValueOfKind<G extends ValueWrapper> {
  text: string;
  duration: string;
  integer: number;
  number: number;
  boolean: boolean;
  "map of text": Record<string, Input<G, string>>;
  map: Record<string, unknown>;
  object: object;
}

/** The type of a key's value. An `Input` may replace values but not objects, which keeps the compiler's messages short. */
type Value<K extends KeyInfo, G extends ValueWrapper> = K extends { keys: infer Nested extends Keys }
  ? Listed<K, Fields<Nested, G>, Fields<Nested, G>>
  : Input<G, Listed<K, Single<K, G>, Input<G, Single<K, G>>>>;

type Listed<K extends KeyInfo, One, Item> = K extends { list: true }
  ? Item[]
  : K extends { list: "or one" }
    ? Item[] | One
    : One;

/** The names of the keys that are required and have no default. */
type RequiredNames<K extends Keys> = {
  [name in keyof K]: K[name] extends { default: unknown }
    ? never
    : K[name] extends { required: true }
      ? name
      : never;
}[keyof K];

// Mapped types without `as` keep the comments of the catalogue's keys, which editors show.
type RequiredFields<K extends Keys, Names extends keyof K, G extends ValueWrapper> = {
  [name in Names]: Value<K[name], G>;
};
type OptionalFields<K extends Keys, Names extends keyof K, G extends ValueWrapper> = {
  [name in Names]?: Value<K[name], G> | undefined;
};
type Fields<K extends Keys, G extends ValueWrapper> = RequiredFields<K, RequiredNames<K>, G> &
  OptionalFields<K, Exclude<keyof K, RequiredNames<K>>, G>;

/** The config of an action: `ActionConfig<"rate-limit">`. */
export type ActionConfig<Type extends ActionType, G extends ValueWrapper = PlainValues> = Fields<
  Actions[Type]["keys"],
  G
>;

/** An action with its config: `PolicyAction<"deny">`. Without a type argument, any action. */
export type PolicyAction<
  Type extends ActionType = ActionType,
  G extends ValueWrapper = PlainValues,
> = Type extends ActionType
  ? RequiredNames<Actions[Type]["keys"]> extends never
    ? { type: Type; config?: ActionConfig<Type, G> | undefined }
    : { type: Type; config: ActionConfig<Type, G> }
  : never;

declare const unlisted: unique symbol;

/** An action that this version of the package does not know, made by `unlistedAction`. */
export interface UnlistedAction {
  // Without config: if all members had one, the compiler would report a mistake in one of them for the whole union.
  type: string & { readonly [unlisted]: true };
}

/**
 * The last member of the union, with which the compiler compares an action of unknown type. It accepts any config, so that the
 * compiler reports only the type.
 */
interface AnyOtherAction<G extends ValueWrapper> {
  type: UnlistedAction["type"];
  config?: Input<G, object> | undefined;
}

type ActionsOf<Phase extends PhaseName> = {
  [Type in ActionType]: Phase extends Actions[Type]["phases"][number] ? Type : never;
}[ActionType];

/** A rule of a phase. */
export interface PolicyRule<Phase extends PhaseName = PhaseName, G extends ValueWrapper = PlainValues> {
  /** A description of the rule. */
  name?: Input<G, string> | undefined;
  /** CEL expressions that select the traffic; all of them must be true. Without expressions the rule applies to all traffic. */
  expressions?: Input<G, Input<G, string>[]> | undefined;
  /** The actions, which run in this order. */
  actions: (PolicyAction<ActionsOf<Phase>, G> | UnlistedAction | AnyOtherAction<G>)[];
}

/**
 * A traffic policy of phases, actions and keys that this version of the package knows. With this type, editors complete a
 * policy, and the compiler checks it.
 *
 * ```ts
 * const policy = {
 *   on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }],
 * } satisfies TrafficPolicy;
 * ```
 */
export type TrafficPolicy<G extends ValueWrapper = PlainValues> = {
  [Phase in keyof typeof phases]?: PolicyRule<Phase, G>[] | undefined;
};

/** The other keys of a rule. */
export type RuleOptions<G extends ValueWrapper = PlainValues> = Pick<
  PolicyRule<PhaseName, G>,
  "name" | "expressions"
>;

/** The most frequent rules for `on_http_request`. */
export interface Rules<
  G extends ValueWrapper = PlainValues,
  Rule = PolicyRule<"on_http_request", G>,
  Options = RuleOptions<G>,
> {
  /** Sends a response: `rules.answer({ status_code: 503, body: "Back soon." })`. */
  answer(config: ActionConfig<"custom-response", G>, options?: Options): Rule;

  /** Forwards requests to an internal endpoint: `rules.forwardTo("https://app.internal")`. */
  forwardTo(url: ActionConfig<"forward-internal", G>["url"], options?: Options): Rule;

  /** Refuses requests, with status 403 or another: `rules.deny({ status_code: 404 }, { expressions: [ … ] })`. */
  deny(config?: ActionConfig<"deny", G>, options?: Options): Rule;

  /** Requires webhooks that the platform signed: `rules.verify("github", secret)`. */
  verify(
    provider: ActionConfig<"verify-webhook", G>["provider"],
    secret: ActionConfig<"verify-webhook", G>["secret"],
    options?: Options,
  ): Rule;
}

/**
 * The most frequent rules for `on_http_request`.
 *
 * ```ts
 * const policy: TrafficPolicy = {
 *   on_http_request: [rules.verify("github", secret), rules.forwardTo("https://hooks.internal")],
 * };
 * ```
 */
export const rules: Rules = {
  answer: (config, options = {}) => ({ ...options, actions: [{ type: "custom-response", config }] }),
  forwardTo: (url, options = {}) => ({
    ...options,
    actions: [{ type: "forward-internal", config: { url } }],
  }),
  deny: (config = { status_code: 403 }, options = {}) => ({
    ...options,
    actions: [{ type: "deny", config }],
  }),
  verify: (provider, secret, options = {}) => ({
    ...options,
    actions: [{ type: "verify-webhook", config: { provider, secret } }],
  }),
};

/**
 * An action that this version of the package does not know, as a type that `TrafficPolicy` accepts. The preview still warns of
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
