import type { Clock } from "../../provider/service/clock";
import type { Emulator, EmulatorOptions, ScriptedReply, Seed } from "../../sdk/testing/emulator";

/*
 * A scenario is a row of data: the runs of Pulumi, what others do between them, and the expected requests, messages and state.
 * `modelRunner.ts` runs each scenario on both providers, with all schedules of the engine. `stackRunner.ts` runs the scenarios
 * with `stacks` as real programs.
 *
 * Names of endpoints: a new endpoint gets the label of its URL, `shop` for https://shop.example.com (the second endpoint is
 * `shop#2`), and keeps that name when it moves. An endpoint of somebody else gets its name from `others` or `seed`.
 */

export type Props = Record<string, unknown>;

/** One of the two providers. */
export type ProviderKind = "dynamic" | "plugin";

export const at = (label: string) => `https://${label}.example.com`;

/**
 * A resource of a program: the label of its URL, or its inputs and its options. `adopt: "@shop"` names the endpoint `shop` by its
 * id.
 */
type Resource = string | (Props & { url: string; options?: ResourceOptions });

interface ResourceOptions {
  /** The resource's name in the earlier run. */
  alias?: string;
  /** The provider that the scenario does not run with. */
  provider?: "other";
  /** The inputs that the program marks as secret. */
  secret?: string[];
  /** Default: true, as the class of Node.js sets it. If it is unset, the provider's diff decides. */
  deleteBeforeReplace?: "unset";
  /** `retainOnDelete`: the engine skips the deletion. */
  retainOnDelete?: true;
  /** `ignoreChanges`. */
  ignoreChanges?: string[];
  /** `additionalSecretOutputs`. Only in stacks. */
  additionalSecretOutputs?: string[];
  /** `replaceOnChanges`. Only in stacks. */
  replaceOnChanges?: string[];
  /** The description is the id that `getEndpoint` finds by the URL of this earlier resource. Only in stacks. */
  finds?: string;
  /** `deletedWith`: the engine skips the deletion if it also deletes this resource. */
  deletedWith?: string;
  /** `replaceWith`: the engine also replaces this resource, without a diff. */
  replaceWith?: string;
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
export const error = (status: number, code: number): ScriptedReply => ({
  status,
  body: { error_code: `ERR_NGROK_${code}`, msg: "no" },
});
export const forbidden: ScriptedReply = { status: 403, body: "" };

/** The writing requests of a program's first run. */
export const createsOf = (program: Program): string[] =>
  Object.values(program).map((resource) => `POST ${labelOf(String(resourceOf(resource).news["url"]))}`);

export const labelOf = (url = "") => new URL(url).hostname.replace(/\.example\.com$/, "");

/** Somebody who changes the service and the state between two runs. */
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

/** Edits a live endpoint by hand. */
export const edited =
  (change: Props, name = "shop") =>
  ({ emulator, id }: Actor) =>
    emulator.edit(id(name), change);

/** The reply to a request that takes effect. */
export const committed = (reply: object) => ({ afterCommit: true, ...reply }) as ScriptedReply;

/** A scripted reply to the next requests of a kind. Default: to one request. */
export type Stub = [
  kind: "create" | "list" | "read" | "update" | "delete" | "by id" | "any",
  reply: ScriptedReply,
  times?: number,
];

/** A run of Pulumi, and its expected effects. */
export interface Run {
  /** The run begins a minute later, so that no list lags. */
  later?: true;
  /** What others do before the run. */
  before?: (actor: Actor) => unknown;
  /** Scripted replies of the service, until the run ends. */
  replies?: Stub[];
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
  /** The run is killed after its requests, and stores nothing. */
  killed?: true;
  /** The stack. Default: `dev`. */
  stack?: string;
  /** Other settings than the scenario's. `@shop` is the id of the endpoint `shop`. */
  overrides?: Settings;

  /**
   * The writing requests, in any order: `POST shop`, `PATCH shop description metadata`, `PATCH a url=b`, `DELETE shop`. A request
   * without success ends with its status, or with 0 for no reply: `POST shop 0`. Refused requests (4xx) are left out. Default: none.
   */
  writes?: string[];
  /** The paths of the reading requests, in order, with names: `/endpoints`, `/endpoints/shop`. Default: any. */
  reads?: string[];
  /** A pattern of the errors, of which each is a line. Default: the run succeeds. */
  fails?: RegExp | undefined;
  /** Patterns of the run's messages. */
  says?: RegExp[];
  /** The limit of the run's duration, by the virtual clock. */
  seconds?: number;
  /** All inputs in the state after the run, by resource. */
  inputs?: Record<string, Props>;
  /** Outputs in the state after the run, by resource. */
  outputs?: Record<string, Props>;
}

type Settings = Record<string, string | undefined>;

/** A scenario: its first run, the next runs, and the situation before and after them. */
interface Row extends Run {
  /** The settings of the stack. */
  settings?: Settings;
  service?: EmulatorOptions;
  /** The program of an earlier run, which succeeds. */
  from?: Program;
  /** The program of an earlier run that was killed before it stored its result. */
  fromKilled?: Program;
  /** Endpoints of somebody else, by name. They exist before the first run, or before `from`. */
  others?: Record<string, Partial<Seed>>;
  next?: Run[];
  /**
   * The resources in the state at the end, with their endpoints by name: `a=b` is `a` with the URL `b`. Default: the last
   * program's resources, each with the endpoint of its URL, or none if a run fails or the last run is `destroy`.
   */
  state?: Record<string, string>;
  /** The names of all endpoints at the end, in the same form. Default: those in the state, and `others`. */
  live?: string[];
  /** Fields of live endpoints, by name. `@shop` is the id of the endpoint `shop`. */
  fields?: Record<string, Props>;
  /**
   * The engine's parallelism. `parallel`: several steps at once. `serial`: `--parallel 1`. Default: both.
   */
  engine?: "parallel" | "serial";
  /** The order in which the engine takes resources. Default: each order. */
  order?: string[];
  /** The only provider to run with. The plugin's check knows all resources, so it refuses some programs earlier. */
  only?: ProviderKind;
  /** Whether the scenario also runs as a stack: one of each kind of step and option, where the CLI could differ from the test engine. */
  stacks?: true;
}

export interface Scenario extends Row {
  name: string;
  /** The file and the line of its row. */
  place: string;
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
  const [place = ""] = /\w+\.ts:\d+/.exec(new Error().stack?.split("\n")[2] ?? "") ?? [];
  return { name, place, runs, live, ...row, others, state };
}

function stateAfter(runs: Run[]): Record<string, string> {
  if (runs.some(({ fails }) => fails) || runs.at(-1)?.command === "destroy") return {};
  const { program = {} } = runs.findLast(({ program }) => program) ?? {};
  return mapValues(program, (resource) => labelOf(String(resourceOf(resource).news["url"])));
}

const mapValues = <From, To>(values: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
