import { z } from "zod";
import { Random } from "../../sdk/testing/emulator/random";

/** What is measured, in the order of a stack's life. */
export const operations = ["create", "preview", "refresh", "update", "destroy"] as const;
export type Operation = (typeof operations)[number];

/** What runs the stack: the test kit's engine, or the Pulumi CLI. */
export const drivers = ["kit", "cli"] as const;
export type Driver = (typeof drivers)[number];

export const contestants = ["ours", "plain", "noop"] as const;
export type Contestant = (typeof contestants)[number];

/** One life of a stack: all operations of one contestant, one after the other. */
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
 * All units, round by round. Within a round, the contestants take turns in a shuffled order, so that whatever else the
 * machine does affects all of them alike. The order is the same in every run, so a run that was ended can be resumed.
 */
export function unitsOf({ runs, sizes, driver }: Plan): Unit[] {
  const rounds = Array.from({ length: runs }, (_, index) => index + 1);
  return rounds.flatMap((round) =>
    sizes.flatMap((size) =>
      shuffled(new Random(round * 10_007 + size), contestants).map((contestant) => ({
        round,
        size,
        driver,
        contestant,
      })),
    ),
  );
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** What the service counted during one operation. */
export const serviceCounts = z.object({
  requests: z.object({
    list: z.number(),
    get: z.number(),
    post: z.number(),
    patch: z.number(),
    delete: z.number(),
  }),
  /** Most connections that were open at once. */
  connections: z.number(),
  /** Endpoints that are there after it. */
  endpoints: z.number(),
});
export type ServiceCounts = z.output<typeof serviceCounts>;

/** One operation, measured. A line of the file of raw results. */
export const cell = z.object({
  round: z.number(),
  size: z.number(),
  driver: z.enum(drivers),
  contestant: z.enum(contestants),
  operation: z.enum(operations),
  /** Wall time of the command. */
  seconds: z.number(),
  ...serviceCounts.shape,
  /** Peak resident memory and processor time of the provider's process; missing without /proc. */
  providerBytes: z.number().optional(),
  providerSeconds: z.number().optional(),
  /** Size of the exported state after the create, as JSON without spaces. */
  stateBytes: z.number().optional(),
});
export type Cell = z.output<typeof cell>;
