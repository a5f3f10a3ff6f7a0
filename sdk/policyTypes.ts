import type * as pulumi from "@pulumi/pulumi";
import type { ActionType, actions, KeyInfo, Keys, PhaseName, phases } from "../provider/policy/catalogue";

/*
 * Traffic policies for editors: made of the catalogue, so that phases, actions and keys are completed where a policy is
 * written, and `satisfies TrafficPolicy` refuses what is not known. What the service has learnt since is written with
 * `unlistedAction`.
 */

type Actions = typeof actions;

/** The text, number or other value of a key. Values that are known are offered; others are taken as well. */
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

/** Outputs stand for values, not for what is around them: so the messages of the compiler stay short. */
type Value<K extends KeyInfo> = K extends { keys: infer Nested extends Keys }
  ? Listed<K, Fields<Nested>, Fields<Nested>>
  : pulumi.Input<Listed<K, Single<K>, pulumi.Input<Single<K>>>>;

type Listed<K extends KeyInfo, One, Item> = K extends { list: true }
  ? Item[]
  : K extends { list: "or one" }
    ? Item[] | One
    : One;

/** The keys that have to be given: those that are required and have no default. */
type Required<K extends Keys> = {
  [name in keyof K]: K[name] extends { default: unknown }
    ? never
    : K[name] extends { required: true }
      ? name
      : never;
}[keyof K];

// Two mappings over plain keys, and none with `as`: so the comments on the catalogue's keys go with them.
type Given<K extends Keys, Names extends keyof K> = { [name in Names]: Value<K[name]> };
type Optional<K extends Keys, Names extends keyof K> = { [name in Names]?: Value<K[name]> | undefined };
type Fields<K extends Keys> = Given<K, Required<K>> & Optional<K, Exclude<keyof K, Required<K>>>;

/** What an action is configured with: `ActionConfig<"rate-limit">`. */
export type ActionConfig<Type extends ActionType> = Fields<Actions[Type]["keys"]>;

/** One action, with its config: `PolicyAction<"deny">`; without a type, any. */
export type PolicyAction<Type extends ActionType = ActionType> = Type extends ActionType
  ? Required<Actions[Type]["keys"]> extends never
    ? { type: Type; config?: ActionConfig<Type> | undefined }
    : { type: Type; config: ActionConfig<Type> }
  : never;

declare const unlisted: unique symbol;

/** An action that this version of the package does not know, as `unlistedAction` gives it. */
export interface UnlistedAction {
  // No config: with one in common, a mistake in any action would be told of all of them.
  type: string & { readonly [unlisted]: true };
}

type ActionsOf<Phase extends PhaseName> = {
  [Type in ActionType]: Phase extends Actions[Type]["phases"][number] ? Type : never;
}[ActionType];

/** A rule of a phase: what it is for, and what it does. */
export interface PolicyRule<Phase extends PhaseName = PhaseName> {
  /** What people call the rule. */
  name?: pulumi.Input<string> | undefined;
  /** CEL expressions that choose what the rule is for; all have to be true. Without any, it is for everything. */
  expressions?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** What the rule does, in this order. */
  actions: (PolicyAction<ActionsOf<Phase>> | UnlistedAction)[];
}

/**
 * A traffic policy, as far as this version of the package knows them. `trafficPolicy` takes any object and text: this is
 * for the editor, and for a check of the program's own.
 *
 * ```ts
 * const policy = {
 *   on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }],
 * } satisfies TrafficPolicy;
 * ```
 */
export type TrafficPolicy = { [Phase in keyof typeof phases]?: PolicyRule<Phase>[] | undefined };
