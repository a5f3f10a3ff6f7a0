import { Random } from "../../sdk/testing/emulator/random";
import { type Contestant, contestants, type Driver, drivers, takesPart, type Unit } from "./cells";

export interface Plan {
  runs: number;
  sizes: readonly number[];
  drivers: readonly Driver[];
  contestants: readonly Contestant[];
}

/**
 * All units, round by round. Within a round the contestants of one size and driver come one after the other, in an order
 * that is shuffled anew each time: what the machine does meanwhile hits all of them alike. The same in every run, so
 * that one which was ended can be taken up.
 */
export function unitsOf(plan: Plan): Unit[] {
  const rounds = Array.from({ length: plan.runs }, (_, round) => round + 1);
  return rounds.flatMap((round) =>
    [...plan.sizes]
      .sort((a, b) => a - b)
      .flatMap((size) =>
        shuffled(new Random(round * 10_000 + size), groupsOf(plan)).flatMap(({ driver, among }) =>
          shuffled(new Random(round * 10_007 + size), among).map((contestant) => ({
            round,
            size,
            driver,
            contestant,
          })),
        ),
      ),
  );
}

const groupsOf = (plan: Plan) =>
  drivers
    .filter((driver) => plan.drivers.includes(driver))
    .map((driver) => ({
      driver,
      among: contestants.filter((each) => plan.contestants.includes(each) && takesPart(driver, each)),
    }));

/** In an order that the generator gives. */
export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
