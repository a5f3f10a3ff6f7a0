import { z } from "zod";
import { randomNumbers } from "../../../sdk/testing/emulator/random";

/** The measured operations, in the order in which a stack runs them. */
export const operations = ["create", "preview", "refresh", "update", "destroy"] as const;
export type Operation = (typeof operations)[number];

/** The engines: the test kit's, or the Pulumi CLI. */
export const drivers = ["kit", "cli"] as const;
export type Driver = (typeof drivers)[number];

export const contestants = ["ours", "plain", "noop"] as const;
export type Contestant = (typeof contestants)[number];

/** One stack: all operations of one contestant, one after the other. */
export interface Unit {
  round: number;
  size: number;
  driver: Driver;
  contestant: Contestant;
}

export interface Plan {
  runs: number;
  sizes: readonly number[];
  driver: Driver;
}

/**
 * All units, round by round. In each round, the contestants take turns in a shuffled order, so that other work of the
 * machine affects all of them equally. The order is always the same, so that an interrupted benchmark can continue.
 */
export function unitsOf({ runs, sizes, driver }: Plan): Unit[] {
  const rounds = Array.from({ length: runs }, (_, index) => index + 1);
  return rounds.flatMap((round) =>
    sizes.flatMap((size) =>
      shuffled(randomNumbers(round * 10_007 + size), contestants).map((contestant) => ({
        round,
        size,
        driver,
        contestant,
      })),
    ),
  );
}

export function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** The counts of the service during one operation. */
export const serviceCounts = z.object({
  requests: z.object({
    list: z.number(),
    get: z.number(),
    post: z.number(),
    patch: z.number(),
    delete: z.number(),
  }),
  /** The largest number of connections that were open at the same time. */
  connections: z.number(),
  /** The number of endpoints after the operation. */
  endpoints: z.number(),
});
export type ServiceCounts = z.output<typeof serviceCounts>;

/** The measurement of one operation: a line of the file of raw results. */
export const cell = z.object({
  round: z.number(),
  size: z.number(),
  driver: z.enum(drivers),
  contestant: z.enum(contestants),
  operation: z.enum(operations),
  /** The wall time of the command. */
  seconds: z.number(),
  ...serviceCounts.shape,
  /** The peak resident memory and the processor time of the provider's process. Undefined without /proc. */
  providerBytes: z.number().optional(),
  providerSeconds: z.number().optional(),
  /** The size of the exported state after the create, as JSON without spaces. */
  stateBytes: z.number().optional(),
});
export type Cell = z.output<typeof cell>;
