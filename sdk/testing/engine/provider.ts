import type { DetailedDiff } from "./detailedDiff";
import type { ResourceState } from "./resourceState";
import type { Props } from "./values";

/**
 * Whom a step asks about a resource: the client of a plugin, or for the providers themselves, which are resources too,
 * the registry. As `plugin.Provider`.
 */
export interface Provider {
  check(urn: string, olds: Props, news: Props): Promise<Checked>;
  /** Throws `DiffUnavailable` where nobody can say yet. */
  diff(subject: DiffSubject, news: Props): Promise<ProviderDiff>;
  create(state: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }>;
  update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props>;
  read(request: ReadRequest): Promise<ReadResult>;
  delete(old: ResourceState): Promise<void>;
}

export interface Checked {
  inputs: Props;
  failures: CheckFailure[];
}

export interface CheckFailure {
  property: string;
  reason: string;
}

/** What there is of a resource before a change. */
export interface DiffSubject {
  urn: string;
  id: string;
  inputs: Props;
  outputs: Props;
  ignoreChanges: string[];
}

export interface ProviderDiff {
  changes: "unknown" | "none" | "some";
  replaces: string[];
  /** The properties to name; empty where all that differ are. */
  changedKeys: string[];
  deleteBeforeReplace: boolean;
  /** Undefined for a provider that does not know where a change is. */
  detailed: DetailedDiff | undefined;
}

export interface ReadRequest {
  urn: string;
  id: string;
  /** Both are undefined for an import: all that is known is the id. */
  inputs?: Props;
  state?: Props;
  timeout?: number | undefined;
}

/** `outputs` is undefined where the provider gave none, `inputs` where it left them as they are. */
export interface ReadResult {
  id: string;
  outputs: Props | undefined;
  inputs: Props | undefined;
}

/** A resource that exists, with an id, and is not ready; as `InitError`. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  constructor(
    readonly id: string,
    readonly properties: Props,
    readonly inputs: Props | undefined,
    readonly reasons: string[],
  ) {
    const errors = `${reasons.length} error${reasons.length === 1 ? "" : "s"} occurred`;
    super(`${errors}:\n${reasons.map((reason) => `\t* ${reason}`).join("\n")}\n\n`);
  }
}

/** The provider's configuration is not known yet, so nothing can be asked; as `DiffUnavailableError`. */
export class DiffUnavailable extends Error {
  override readonly name = "DiffUnavailable";
  constructor() {
    super(
      "The provider for this resource has inputs that are not known during preview.\n" +
        "This preview may not correctly represent the changes that will be applied during an update.",
    );
  }
}
