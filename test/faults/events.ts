import fc from "fast-check";
import { type FaultKind, faultKinds } from "../../sdk/testing";

/* What can happen to a stack, and how stories of it are made up. */

/** One thing that happens. Numbers choose resources, modulo how many there are. */
export type Event =
  | { kind: "grow"; by: number }
  | { kind: "change"; which: number; text: string }
  | { kind: "rename"; which: number }
  | { kind: "shrink"; which: number }
  | { kind: "refresh" }
  | { kind: "edited by hand"; which: number }
  | { kind: "deleted by hand"; which: number }
  | { kind: "taken by somebody"; name: number }
  | { kind: "told too much"; by: number }
  | { kind: "killed"; after: number; by: number };

export interface Story {
  /** Of the faults. */
  seed: number;
  probability: number;
  kinds: FaultKind[];
  /** Whether leftovers are taken over by themselves (`endpoints:recoverWithin`), or by a user who follows the message. */
  recovers: boolean;
  events: Event[];
}

const which = fc.nat({ max: 7 });
const text = fc.constantFrom("one", "two", "", "three é✓");

export const stories: fc.Arbitrary<Story> = fc.record({
  seed: fc.nat(),
  probability: fc.constantFrom(0.05, 0.15, 0.4),
  kinds: fc.subarray([...faultKinds], { minLength: 3 }),
  recovers: fc.boolean(),
  events: fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant("grow" as const), by: fc.integer({ min: 1, max: 6 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("change" as const), which, text }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), which }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("shrink" as const), which }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("refresh" as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("edited by hand" as const), which }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("deleted by hand" as const), which }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("taken by somebody" as const), name: which }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("told too much" as const),
          by: fc.integer({ min: 1, max: 3 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("killed" as const),
          after: fc.integer({ min: 1, max: 5 }),
          by: fc.integer({ min: 2, max: 6 }),
        }),
      },
    ),
    { minLength: 2, maxLength: 8 },
  ),
});
