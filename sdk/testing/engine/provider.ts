import type { ResourceState } from "./checkpoint";
import type { Props } from "./properties";
import type { Diff } from "./propertyDiff";

/**
 * What serves a resource: the client of a provider process or, for the providers themselves, which are resources too,
 * `Providers`.
 */
export interface Provider {
  check(urn: string, olds: Props, news: Props): Promise<Checked>;
  diff(old: Existing, news: Props, ignoreChanges: string[]): Promise<Diff>;
  create(next: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }>;
  update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props>;
  read(resource: ToRead): Promise<Found>;
  delete(old: ResourceState): Promise<void>;
}

export interface CheckFailure {
  property: string;
  reason: string;
}

export interface Checked {
  inputs: Props;
  failures: CheckFailure[];
}

/** What there is of a resource before a change. */
export type Existing = Pick<ResourceState, "urn" | "id" | "inputs"> & { outputs?: Props | undefined };

/** Of what is to be imported, no more is known than the id. */
export type ToRead = Pick<ResourceState, "urn" | "id"> & { inputs?: Props; outputs?: Props | undefined };

/** `outputs` is undefined where the provider gave none, `inputs` where it left them as they are. */
export interface Found {
  id: string;
  outputs: Props | undefined;
  inputs: Props | undefined;
}

/** The answer of a function of the package. */
export interface Invoked {
  result: Props;
  failures: CheckFailure[];
}
