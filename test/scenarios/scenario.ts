import type { Clock } from "../../provider/service/clock";
import type { Emulator, EmulatorOptions, ScriptedReply, Seed } from "../../sdk/testing/emulator";

/*
 * A scenario is a row of data: what somebody does, one run after the other, and what follows from it. `modelRunner.ts` runs each
 * scenario on both providers, in all orders of calls that the engine may choose; `stackRunner.ts` runs those with `stacks` as
 * real programs.
 *
 * Names of endpoints: a new endpoint gets the label of its URL, `shop` for https://shop.example.com (the second one `shop#2`),
 * and keeps that name when it moves. An endpoint of somebody else gets its name from `others` or `seed`.
 */

export type Props = Record<string, unknown>;

/** One of the two providers. */
export type Kind = "dynamic" | "plugin";

export const at = (label: string) => `https://${label}.example.com`;

/**
 * A resource of a program: the label of its URL, or its inputs and its options. `adopt: "@shop"` names the endpoint `shop` by its
 * id.
 */
type Resource = string | (Props & { url: string; options?: ResourceOptions });

interface ResourceOptions {
  /** The resource's name in the earlier run. */
  alias?: string;
  /** The other one of the two providers. */
  provider?: "other";
  /** The inputs that the program marks as secret. */
  secret?: string[];
  /** Without the option `deleteBeforeReplace`, which the class of Node.js sets: the provider's diff decides. */
  byDiff?: true;
  /** `retainOnDelete`: the engine skips the deletion. */
  retains?: true;
  /** `ignoreChanges`. */
  ignores?: string[];
  /** `deletedWith`: the engine skips the deletion if it deletes this resource, too. */
  deletedWith?: string;
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

/** An error of the service, with its code. */
export const coded = (status: number, code: number): ScriptedReply => ({
  status,
  body: { error_code: `ERR_NGROK_${code}`, msg: "no" },
});
export const refused: ScriptedReply = { status: 403, body: "" };

/** The writing requests of a program's first run. */
export const createsOf = (program: Program): string[] =>
  Object.values(program).map((resource) => `POST ${labelOf(String(resourceOf(resource).news["url"]))}`);

export const labelOf = (url = "") => new URL(url).hostname.replace(/\.example\.com$/, "");

/** What others do to the service and to the state, between two runs. */
export interface Actor {
  emulator: Emulator;
  clock: Clock;
  /** Adds an endpoint of somebody else. */
  seed(name: string, endpoint: Partial<Seed>): string;
  /** The id of an endpoint. */
  id(name: string): string;
  /** Edits the outputs of a resource in the state. */
  editState(resource: string, edit: (outputs: Props) => Props): Promise<void> | void;
  /** `pulumi stack rename`. */
  renameStack(from: string, to: string): void;
}

/** The service's list omits a field. */
export const omitsInList =
  (field: string) =>
  ({ emulator }: Actor) => {
    const endpoints = emulator.endpoints.map(({ [field as "id"]: _, ...item }) => item);
    emulator.intercept("list", { status: 200, body: { endpoints } }, 9);
  };

/** A scripted reply to the next requests of a kind. Default: to one. */
export type Reply = [
  kind: "create" | "list" | "read" | "update" | "delete" | "by id" | "any",
  reply: ScriptedReply,
  times?: number,
];

/** A run of Pulumi, and what follows from it. */
export interface Run {
  /** A minute after the run before, so that no list lags. */
  later?: true;
  /** What happens before it. */
  before?: (actor: Actor) => unknown;
  /** The scripted replies of the service, until the run ends. */
  replies?: Reply[];
  /** Default: `up`, with a preview. */
  command?: "up" | "refresh" | "destroy";
  /** Default: the program of the run before, or else the resource `o` with the URL `shop`. */
  program?: Program;
  /** `--target`: the names of the only resources to change. */
  target?: string[];
  /** `--replace`: the names of resources to replace. */
  replace?: string[];
  continueOnError?: true;
  /** `up --refresh` */
  refresh?: true;
  /** The run does everything, and is killed before it stores that. */
  killed?: true;
  /** The stack. Default: `dev`. */
  stack?: string;
  /** Other settings than the scenario's. */
  with?: Settings;
  /** `@shop` is the id of the endpoint `shop`. */
  environment?: Record<string, string>;

  /**
   * The writing requests, in any order: `POST shop`, `PATCH shop description metadata`, `PATCH a url=b`, `DELETE shop`; with the
   * status if that is no success, 0 for none: `POST shop 0`. Requests that the service refuses (4xx) are left out. Default: none.
   */
  writes?: string[];
  /** The reading requests, in order, by their paths with names: `/endpoints`, `/endpoints/shop`. Default: any. */
  reads?: string[];
  /** The errors, one a line. Default: the run succeeds. */
  fails?: RegExp | undefined;
  /** Messages of the run: each of these patterns fits one. */
  says?: RegExp[];
  /** The run does not take longer, by the virtual clock. */
  seconds?: number;
  /** All inputs in the state after it, by resource. */
  inputs?: Record<string, Props>;
  /** Outputs in the state after it, by resource. */
  stored?: Record<string, Props>;
}

type Settings = Record<string, string | undefined>;

/** A scenario is its first run, what surrounds it, and the next runs. */
interface Row extends Run {
  /** The settings of the stack. */
  settings?: Settings;
  service?: EmulatorOptions;
  /** The program of an earlier run, which succeeds. */
  from?: Program;
  /** The program of an earlier run, which was killed before it stored what it did. */
  fromKilled?: Program;
  /** Endpoints of somebody else, by name. They exist before the first run, or before `from`. */
  others?: Record<string, Partial<Seed>>;
  next?: Run[];
  /**
   * The resources in the state at the end, with their endpoints by name: `a=b` is `a` with the URL `b`. Default: the last
   * program's resources, each with the endpoint of its URL, or none if a run fails or the last one is `destroy`.
   */
  state?: Record<string, string>;
  /** The names of all endpoints at the end, in the same form. Default: those in the state, and `others`. */
  live?: string[];
  /** Fields of live endpoints, by name. */
  fields?: Record<string, Props>;
  /**
   * The engine's orders. `parallel`: several steps at once. `serial`: `--parallel 1`. Default: any.
   */
  engine?: "parallel" | "serial";
  /** The order in which the engine takes resources. Default: any. */
  order?: string[];
  /** Run with this provider alone. The plugin's check knows all resources, so some mistakes end there. */
  on?: "dynamic";
  /** Run as stacks too. */
  stacks?: true;
}

export interface Scenario extends Row {
  name: string;
  runs: Run[];
  live: string[];
  state: Record<string, string>;
}

export function scenario(name: string, row: Row): Scenario {
  const { others = {}, from, fromKilled, program = from ?? fromKilled ?? { o: "shop" } } = row;
  const runs: Run[] = [{ ...row, program }, ...(row.next ?? [])];
  const { state = stateAfter(runs) } = row;
  const stored = Object.values(state);
  const names = stored.map((shown) => shown.split("=")[0]);
  const live = [...new Set(stored), ...Object.keys(others).filter((other) => !names.includes(other))];
  return { name, runs, live, ...row, others, state };
}

function stateAfter(runs: Run[]): Record<string, string> {
  if (runs.some(({ fails }) => fails) || runs.at(-1)?.command === "destroy") return {};
  const { program = {} } = runs.findLast(({ program }) => program) ?? {};
  return mapValues(program, (resource) => labelOf(String(resourceOf(resource).news["url"])));
}

const mapValues = <From, To>(values: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
