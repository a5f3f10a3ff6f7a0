import type { Clock } from "../../provider/api/clock";
import type { Emulator, EmulatorOptions, Seed } from "../../sdk/testing/emulator";

/*
 * A scene is a row of data: what somebody does, one run after the other, and what follows from it. `inProcess.ts` plays each scene
 * on both providers, in all orders of calls that the engine may choose; `stacks.ts` plays those with `stacks` as real programs.
 *
 * Names of endpoints: a new endpoint gets the label of its URL, `shop` for https://shop.example.com (the second one `shop#2`),
 * and keeps that name when it moves. An endpoint of somebody else gets its name from `seed`.
 */

export type Props = Record<string, unknown>;

export const at = (label: string) => `https://${label}.example.com`;

/**
 * A resource of a program: the label of its URL, or its inputs and its options. `adopt: "@shop"` names the endpoint `shop` by its
 * id.
 */
export type Resource = string | (Props & { url: string; options?: ResourceOptions });

export interface ResourceOptions {
  /** The resource's name in the earlier run. */
  alias?: string;
  /** The other one of the two providers. */
  provider?: "other";
  /** The inputs that the program marks as secret. */
  secret?: string[];
  /** `deleteBeforeReplace: false`. */
  createsFirst?: true;
}

/** A resource's inputs and options. */
export function resourceOf(resource: Resource = "", idOf: (name: string) => string = (name) => name) {
  const { options = {}, ...news } = typeof resource === "string" ? { url: at(resource) } : resource;
  const { adopt } = news as Props;
  const id = typeof adopt === "string" && adopt.startsWith("@") ? idOf(adopt.slice(1)) : adopt;
  return { news: { ...news, ...(id !== undefined && { adopt: id }) } as Props, options };
}

/** A program: its resources by name. */
export type Program = Record<string, Resource>;

/** What others do to the service and to the state, between two runs. */
export interface Hand {
  emulator: Emulator;
  clock: Clock;
  /** Adds an endpoint of somebody else. */
  seed(name: string, endpoint: Partial<Seed> & { url: string }): string;
  /** The id of an endpoint. */
  id(name: string): string;
  /** Edits the outputs of a resource in the state. */
  editState(resource: string, edit: (outputs: Props) => Props): Promise<void> | void;
  /** `pulumi stack rename`. */
  renameStack(from: string, to: string): void;
}

/** A run of Pulumi, and what follows from it. */
export interface Run {
  /** What happens before it. */
  byHand?: (hand: Hand) => unknown;
  /** Default: `up`, with a preview. */
  command?: "up" | "refresh" | "destroy";
  /** Default: the program of the run before. */
  program?: Program;
  /** `--target`: the names of the only resources to change. */
  target?: string[];
  /** `--replace`: the names of resources to replace. */
  replace?: string[];
  continueOnError?: true;
  /** The run does everything, and is killed before it stores that. */
  killed?: true;
  /** The stack. Default: `dev`. */
  stack?: string;
  /** The settings that differ from the scene's: `mark` is `endpoints:mark`. */
  settings?: Record<string, string | undefined>;
  environment?: Record<string, string>;

  /**
   * The writing requests, in any order: `POST shop`, `PATCH shop description metadata`, `PATCH a url=b`, `DELETE shop`; with the
   * status if that is no success, 0 for none: `POST shop 0`. Requests that the service refuses (4xx) are left out.
   */
  writes?: string[];
  /** The errors, one a line. Default: the run succeeds. */
  fails?: RegExp;
  /** Messages of the run: each of these patterns fits one. */
  says?: RegExp[];
  /** The run does not take longer, by the virtual clock. */
  seconds?: number;
}

export interface Scene {
  name: string;
  /** The settings of the stack. */
  settings?: Record<string, string>;
  service?: EmulatorOptions;
  /** The program of an earlier run, which succeeds. */
  from?: Program;
  runs: Run[];
  /** The names of all endpoints at the end, each with its URL's label if it has moved: `a=b`. */
  live: string[];
  /** The resources in the state at the end, with the names of their endpoints. */
  state: Record<string, string>;
  /** Fields of live endpoints, by name. */
  fields?: Record<string, Props>;
  /** Outputs in the state, by resource. */
  stored?: Record<string, Props>;
  /** All inputs in the state, by resource. */
  inputs?: Record<string, Props>;
  /**
   * The engine's orders. `parallel`: several steps at once. `serial`: `--parallel 1`. Default: any.
   */
  engine?: "parallel" | "serial";
  /** The order in which the engine takes resources. Default: any. */
  order?: string[];
  /** Played as stacks too. */
  stacks?: true;
}
