import type * as pulumi from "@pulumi/pulumi";

/** Inputs at every depth, as programs may write them. */
export type Inputs<T> = T extends unknown ? { [K in keyof T]: InputOf<T[K]> } : never;

export type InputOf<T> = [T] extends [readonly (infer E)[] | undefined]
  ? pulumi.Input<readonly pulumi.Input<E>[]> | undefined
  : [T] extends [object | undefined]
    ? pulumi.Input<Inputs<NonNullable<T>>> | undefined
    : pulumi.Input<T>;
