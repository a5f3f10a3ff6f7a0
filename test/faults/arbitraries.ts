import fc from "fast-check";
import { type ServiceFaultKind, serviceFaultKinds } from "./serviceFaults";
import type { ServiceOptions } from "./testbed";

/* The events of random runs. */

/** Values for the `created_at` of somebody else's endpoint: milliseconds from now, or another value. */
export const creationTimes = {
  now: 0,
  "a second before": -1_000,
  "long before": -1_800_000,
  "in the future": 3_600_000,
  garbage: "yesterday",
  missing: null,
} as const;

/** Faults that lose a reply. */
export const losses = {
  reset: { reset: true },
  "a gateway's 504": { status: 504, body: "<html>" },
  "no answer": { hang: true },
} as const;

/** Wrong settings of one command. */
const places = ["another prefix", "another account", "a key that may not list"] as const;

const one = fc.constantFrom;
const keys = <T extends object>(table: T) => fc.constantFrom(...(Object.keys(table) as (keyof T)[]));
const few = fc.integer({ min: 1, max: 6 });
const which = fc.nat({ max: 7 });
const description = one("one", "two", "", "three é✓");
const write = one("create", "update", "delete");
const flag = fc.boolean();

/** The command after an edit of the program or of the state. After a command with a target, a full `up` follows. */
const run = fc.record({
  verb: one("up", "up", "up", "destroy"),
  target: one("all", "all", "new", "old"),
  refresh: flag,
  continueOnError: one(true, true, false),
  /** `destroy --run-program` */
  runProgram: flag,
});

/** Each kind of event, with its relative frequency and its parameters. `which` selects a resource, modulo their number. */
const eventKinds = {
  create: [
    5,
    {
      by: fc.oneof({ weight: 4, arbitrary: few }, { weight: 1, arbitrary: fc.integer({ min: 20, max: 40 }) }),
    },
  ],
  change: [2, { which, text: description }],
  "change the URL": [1, { which }],
  remove: [1, { which }],
  refresh: [2, {}],
  "edit by hand": [1, { which }],
  "delete by hand": [1, { which }],
  /** Somebody has an endpoint on the URL of the next resource, or of a later one, perhaps with its content. */
  "URL taken": [2, { which, isEqual: flag, made: keys(creationTimes) }],
  "refusal with secrets": [1, { by: fc.integer({ min: 1, max: 3 }) }],
  /** `looks`: the user runs `drift` before the next run. */
  "process killed": [2, { after: fc.integer({ min: 1, max: 5 }), by: few, looks: flag }],
  /** `up --replace`, of a resource with `retainOnDelete` if `retains`. */
  "forced replacement": [2, { which, retains: flag }],
  /** Somebody creates an endpoint on our URL at the same time as we do, mostly an equal one, and our reply may be lost. */
  "rival meanwhile": [
    6,
    {
      isEqual: one(true, true, false),
      when: one("before", "after", "instead"),
      made: keys(creationTimes),
      answer: fc.option(keys(losses)),
    },
  ],
  "request arrives late": [
    2,
    { request: write, ms: fc.integer({ min: 500, max: 4_000 }), answer: keys(losses), which },
  ],
  "reply about another endpoint": [
    2,
    {
      request: one("create", "read", "update"),
      about: one("theirs", "ours", "an agent's"),
      done: fc.boolean(),
      which,
    },
  ],
  "404 of a gateway": [2, { request: one("read", "delete"), form: one("html", "json", "coded"), which }],
  "wrong service": [2, { place: one(...places), command: one("refresh", "remove", "change"), which }],
  /** A resource gets another name, with `isMoved` also another provider. With `keepsOld`, a copy of it asks for its endpoint. */
  rename: [
    6,
    {
      which,
      how: one("plain", "adopt", "adopt", "adopt", "import", "alias", "state rename", "another resource"),
      keepsOld: one(false, false, true),
      isMoved: one(false, false, true),
      run,
    },
  ],
  /** Resources that are mapped by index move to the URLs of their neighbours. */
  "move URLs": [
    4,
    {
      which,
      length: fc.integer({ min: 2, max: 5 }),
      how: one("grow", "shrink", "slide", "rotate"),
      isReversed: flag,
      run,
    },
  ],
  destroy: [1, { run }],
  "key rotated": [1, {}],
} as const;

type EventKinds = typeof eventKinds;
type Values<T> = { -readonly [N in keyof T]: T[N] extends fc.Arbitrary<infer V> ? V : never };

/** An event of a random run. */
export type Event = { [K in keyof EventKinds]: { kind: K } & Values<EventKinds[K][1]> }[keyof EventKinds];

/** The command after an edit. */
export type FollowUp = Extract<Event, { kind: "destroy" }>["run"];

const event = fc.oneof(
  ...Object.entries(eventKinds).map(([kind, [weight, fields]]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), ...fields }),
  })),
) as fc.Arbitrary<Event>;

export interface RandomRun {
  /** The seed of the faults. */
  seed: number;
  probability: number;
  kinds: ServiceFaultKind[];
  /** Whether `endpoints:listFilter` is on. */
  filtersLists: boolean;
  /** The engine's number of parallel operations. */
  parallel: number;
  /** The requests per window. A random run exceeds the small value, and not the large value. */
  budget: number;
  service: ServiceOptions;
  /** How many commands tell the user to take out an `adopt`, of configuration or program, before he does. */
  delay: number;
  events: Event[];
}

const clocks = fc.oneof(
  { weight: 4, arbitrary: one({}) },
  { weight: 2, arbitrary: one(-3_600_000, 7_200_000).map((skew) => ({ date: skew, createdAt: skew })) },
  // Without these times, the age of an endpoint is unknown.
  { weight: 1, arbitrary: one({ date: null }, { date: "garbage" }) },
  { weight: 1, arbitrary: one({ createdAt: null }, { createdAt: "garbage" }) },
);

const service: fc.Arbitrary<ServiceOptions> = fc
  .record({
    urlTaken: one("18017", "18017", "18009", "422", "400-bare", "409-bare"),
    listLag: one(0, 0, 1_500, 4_000),
    busyUrl: fc.option(
      one<{ ms: number; code: 18006 | 18016 | 18017 }[]>(
        { ms: 3_000, code: 18006 },
        { ms: 5_000, code: 18016 },
        { ms: 5_000, code: 18017 },
      ),
      { nil: undefined },
    ),
    pageSize: one(100, 3),
    filters: one("works", "refused", "ignored", "incomplete", "agent"),
    clock: clocks,
  })
  .map(({ clock, ...rest }) => ({ ...rest, ...clock }));

const allRandomRuns: fc.Arbitrary<RandomRun> = fc.record({
  seed: fc.nat(),
  probability: one(0.05, 0.15, 0.4),
  kinds: fc.subarray([...serviceFaultKinds], { minLength: 3 }),
  filtersLists: fc.boolean(),
  parallel: one(1, 1, 4, 64, 64),
  budget: one(8, 120),
  service,
  delay: one(0, 0, 1, 3),
  // Most events need resources that exist.
  events: fc
    .tuple(few, fc.array(event, { minLength: 1, maxLength: 8 }))
    .map(([by, events]) => [{ kind: "create", by }, ...events]),
});

/** A counterexample has one event a line. */
function text(this: RandomRun): string {
  const { events, ...rest } = this;
  return [JSON.stringify(rest), ...events.map((event) => `  ${JSON.stringify(event)}`)].join("\n");
}

export const randomRuns = allRandomRuns.map((randomRun) => ({
  ...randomRun,
  // Only the public service is known to filter, and it has codes.
  filtersLists: randomRun.filtersLists && /^18/.test(randomRun.service.urlTaken ?? ""),
  [fc.toStringMethod]: text,
}));

const RESETS: Partial<Record<ServiceFaultKind, ServiceFaultKind>> = {
  "hang-before": "reset-before",
  "hang-after": "reset-after",
  stalled: "cut-reset",
};

/**
 * The random run with resets in place of connections that hang. A hang ends only with the HTTP library's timer, about once a
 * second in real time, so hangs take nearly all of a random run's time.
 */
export const withoutHangs = ({ kinds, events, ...randomRun }: RandomRun): RandomRun => ({
  ...randomRun,
  kinds: kinds.map((kind) => RESETS[kind] ?? kind),
  events: events.map((event) =>
    "answer" in event && event.answer === "no answer" ? { ...event, answer: "reset" } : event,
  ),
});
