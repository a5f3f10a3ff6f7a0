import fc from "fast-check";
import { type EmulatorOptions, type FaultKind, faultKinds } from "../../sdk/testing";

/* What can happen to a stack, and how stories of it are made up. */

/** The `created_at` of somebody else's endpoint: milliseconds from now, or another value. */
export const madeAt = {
  now: 0,
  "a second before": -1_000,
  "long before": -1_800_000,
  "in the future": 3_600_000,
  garbage: "yesterday",
  missing: null,
} as const;

/** How an answer is lost. */
export const lost = {
  reset: { reset: true },
  "a gateway's 504": { status: 504, body: "<html>" },
  "no answer": { hang: true },
} as const;

/** Where one command looks for the service by mistake. */
export const places = ["another prefix", "another account", "a key that may not list"] as const;

const one = fc.constantFrom;
const keys = <T extends object>(table: T) => fc.constantFrom(...(Object.keys(table) as (keyof T)[]));
const few = fc.integer({ min: 1, max: 6 });
const which = fc.nat({ max: 7 });
const text = one("one", "two", "", "three é✓");
const write = one("create", "update", "delete");

/** Everything that can happen: how often, and how. Numbers choose resources, modulo how many there are. */
const happenings = {
  grow: [4, { by: few }],
  "grow at once": [1, { by: fc.integer({ min: 20, max: 40 }) }],
  change: [2, { which, text }],
  rename: [1, { which }],
  shrink: [1, { which }],
  refresh: [2, {}],
  "edited by hand": [1, { which }],
  "deleted by hand": [1, { which }],
  "taken by somebody": [1, { which }],
  "secrets repeated": [1, { by: fc.integer({ min: 1, max: 3 }) }],
  killed: [2, { after: fc.integer({ min: 1, max: 5 }), by: few }],
  /** Somebody else has what a resource to come will be: the same URL, the same content. */
  "an equal there before": [1, { made: keys(madeAt) }],
  /** He makes it while we do, and our answer may be lost. */
  "an equal meanwhile": [
    3,
    { when: one("before", "after", "instead"), made: keys(madeAt), answer: fc.option(keys(lost)) },
  ],
  "comes late": [2, { request: write, ms: fc.integer({ min: 500, max: 4_000 }), answer: keys(lost), which }],
  "answered with another": [
    2,
    {
      request: one("create", "read", "update"),
      about: one("theirs", "ours", "an agent's"),
      done: fc.boolean(),
      which,
    },
  ],
  "no route": [2, { request: one("read", "delete"), form: one("html", "json", "coded"), which }],
  "asked elsewhere": [2, { place: one(...places), command: one("refresh", "shrink", "change"), which }],
  "key rotated": [1, { colleague: fc.boolean() }],
} as const;

type Happenings = typeof happenings;
type Values<T> = { -readonly [N in keyof T]: T[N] extends fc.Arbitrary<infer V> ? V : never };

/** One thing that happens. */
export type Event = { [K in keyof Happenings]: { kind: K } & Values<Happenings[K][1]> }[keyof Happenings];

const event = fc.oneof(
  ...Object.entries(happenings).map(([kind, [weight, fields]]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), ...fields }),
  })),
) as fc.Arbitrary<Event>;

export interface Story {
  /** Of the faults. */
  seed: number;
  probability: number;
  kinds: FaultKind[];
  /** Whether leftovers are taken over by themselves (`endpoints:recoverWithin`), or by a user who follows the message. */
  recovers: boolean;
  /** How many operations the engine begins at once. */
  parallel: number;
  /** Requests in a window; few, so that a story meets the end of them, or more than it makes. */
  budget: number;
  service: EmulatorOptions;
  events: Event[];
}

const clocks = fc.oneof(
  { weight: 4, arbitrary: one({}) },
  { weight: 2, arbitrary: one(-3_600_000, 7_200_000).map((skew) => ({ date: skew, createdAt: skew })) },
  // An endpoint's age cannot be compared with a clock.
  { weight: 1, arbitrary: one({ date: null }, { date: "garbage" }) },
  { weight: 1, arbitrary: one({ createdAt: null }, { createdAt: "garbage" }) },
);

const service: fc.Arbitrary<EmulatorOptions> = fc
  .record({
    urlTaken: one("18017", "18017", "18009", "422", "400-bare", "409-bare", "allowed"),
    listLag: one(0, 0, 1_500, 4_000),
    busyUrl: fc.option(
      one<{ ms: number; code: 18006 | 18016 | 18017 }[]>(
        { ms: 3_000, code: 18006 },
        { ms: 5_000, code: 18016 },
        { ms: 5_000, code: 18017 },
      ),
      { nil: undefined },
    ),
    principals: fc.boolean(),
    pageSize: one(100, 3),
    filters: one("works", "refused", "ignored", "incomplete", "agent"),
    clock: clocks,
  })
  .map(({ clock, ...rest }) => ({ ...rest, ...clock }));

export const stories: fc.Arbitrary<Story> = fc.record({
  seed: fc.nat(),
  probability: one(0.05, 0.15, 0.4),
  kinds: fc.subarray([...faultKinds], { minLength: 3 }),
  recovers: fc.boolean(),
  parallel: one(4, 64),
  budget: one(8, 120),
  service,
  events: fc.array(event, { minLength: 2, maxLength: 8 }),
});
