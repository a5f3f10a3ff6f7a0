import { z } from "zod";

/** What is measured, in the order of a stack's life. */
export const operations = ["create", "preview", "refresh", "update", "destroy"] as const;
export type Operation = (typeof operations)[number];

/** What runs the provider: nothing (its methods are called directly), the kit's engine, or the Pulumi CLI. */
export const drivers = ["direct", "kit", "cli"] as const;
export type Driver = (typeof drivers)[number];

export const contestants = ["ours", "plain", "noop", "raw"] as const;
export type Contestant = (typeof contestants)[number];

/** Raw requests need no engine, and of a provider that does nothing only the engine is worth measuring. */
export const takesPart = (driver: Driver, contestant: Contestant) =>
  contestant !== (driver === "direct" ? "noop" : "raw");

/** One life of a stack: all operations of one contestant, one after the other. */
export interface Unit {
  round: number;
  size: number;
  driver: Driver;
  contestant: Contestant;
}

/** How many requests of each kind the service saw. */
export const requestCounts = z.object({
  list: z.number(),
  get: z.number(),
  post: z.number(),
  patch: z.number(),
  delete: z.number(),
});
export type RequestCounts = z.output<typeof requestCounts>;

/** What the service saw of one operation. */
export const seenByService = z.object({
  requests: requestCounts,
  /** Most connections that were open at once. */
  connections: z.number(),
  /** Endpoints that are there after it. */
  endpoints: z.number(),
});
export type SeenByService = z.output<typeof seenByService>;

/** One operation, measured. A line of the file of raw results. */
export const cell = z.object({
  round: z.number(),
  size: z.number(),
  driver: z.enum(drivers),
  contestant: z.enum(contestants),
  operation: z.enum(operations),
  /** Wall time of the command; with the driver `direct`, from the first call to the last result. */
  seconds: z.number(),
  ...seenByService.shape,
  /** Peak resident memory and processor time of the provider's process; missing where there is none. */
  providerBytes: z.number().optional(),
  providerSeconds: z.number().optional(),
  /** Size of the exported state after the create, as JSON without spaces. */
  stateBytes: z.number().optional(),
});
export type Cell = z.output<typeof cell>;
