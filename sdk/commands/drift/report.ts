import { z } from "zod";

/*
 * What a run of `drift` found, as `--json` writes it. Fields may be added within a version; one that goes or changes its
 * meaning makes a new version.
 */

/** In the place of a policy that somebody broke by hand: it may hold a secret, and nobody can tell where. */
export const BROKEN = "[text that is no policy]";

/** What a change was about, as the JSON of the two sides; missing on a side that has nothing there. */
const side = z.json().optional();

const changeSchema = z.object({
  /** The input: `url`, `trafficPolicy`, `description`, `metadata`, `bindings` or `poolingEnabled`. */
  field: z.string(),
  /** The place that differs, within a document too: `trafficPolicy.on_http_request[0].actions`. */
  path: z.string(),
  /** What happened on the service: something was `added`, `removed`, or `changed`. */
  kind: z.enum(["added", "removed", "changed"]),
  /** What the stack's state holds. */
  expected: side,
  /** What the service has. */
  live: side,
  /** Whether something of the two values is secret, and was left out of them. */
  secret: z.boolean(),
});

const repairSchema = z.object({
  /** Whether the service has what the state held, after the repair. */
  done: z.boolean(),
  /** Why not; missing where it was done. */
  reason: z.string().optional(),
  /** Whether the service or Pulumi's backend refused the key for it; missing where it did not. */
  authentication: z.boolean().optional(),
});

const driftedSchema = z.object({
  /** The resource's name in the program. */
  name: z.string(),
  urn: z.string(),
  type: z.string(),
  /** The endpoint's id on the service, before any repair. */
  id: z.string(),
  url: z.string().optional(),
  drift: z.enum(["changed", "deleted"]),
  /** The places that differ; empty for an endpoint that was deleted. */
  changes: z.array(changeSchema),
  /** What `--fix` did about it; missing without. */
  repair: repairSchema.optional(),
});

const unseenSchema = z.object({
  /** The resource or the account that could not be seen. */
  what: z.string(),
  reason: z.string(),
  /** Whether the service or Pulumi's backend refused the key. */
  authentication: z.boolean(),
});

const stackSchema = z.object({
  name: z.string(),
  /** How many cloud endpoints the stack manages; 0 where its state could not be read. */
  endpoints: z.int(),
  /** How many of them were compared with the service. Of the others it is not known whether they drifted. */
  compared: z.int(),
  drifted: z.array(driftedSchema),
  /** What could not be compared. */
  unseen: z.array(unseenSchema),
});

const accountSchema = z.object({
  /** The base URL of the service; missing where the settings do not tell it. */
  service: z.string().optional(),
  /** The stacks that use it. */
  stacks: z.array(z.string()),
  /** How many cloud endpoints the account has. */
  endpoints: z.int(),
  /** Those that no stack given manages, newest first. */
  unmanaged: z.array(
    z.object({
      id: z.string(),
      url: z.string().optional(),
      description: z.string().optional(),
      createdAt: z.iso.datetime().optional(),
      /** The resource that it was created for, where it carries a mark (`endpoints:mark`). */
      createdFor: z.string().optional(),
    }),
  ),
  /** What could not be seen. */
  unseen: z.array(unseenSchema),
});

/** An endpoint that more than one resource has, so that each undoes what the other does. */
const sharedSchema = z.object({
  id: z.string(),
  /** Where it stands: stack and resource. */
  resources: z.array(z.object({ stack: z.string(), name: z.string() })),
});

export const reportSchema = z.object({
  version: z.literal(1),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /**
   * `none`: no drift; `drift`; `repaired`: all that had drifted is as the states held it; `unrepaired`: something could
   * not be repaired; `unseen`: something could not be seen.
   */
  outcome: z.enum(["none", "drift", "repaired", "unrepaired", "unseen"]),
  /** 0, 7 for drift, 3 where a key was refused, 1 for everything else. */
  exitCode: z.int(),
  /** Whether `--fix` was given. */
  fix: z.boolean(),
  /** Whether `--fail-on-unmanaged` was given. */
  failOnUnmanaged: z.boolean(),
  stacks: z.array(stackSchema),
  accounts: z.array(accountSchema),
  /** Endpoints that stand in several states, or twice in one. They count as drift. */
  shared: z.array(sharedSchema),
});

export type DriftReport = z.output<typeof reportSchema>;
export type StackReport = z.output<typeof stackSchema>;
export type AccountReport = z.output<typeof accountSchema>;
export type DriftedEndpoint = z.output<typeof driftedSchema>;
export type FieldChange = z.output<typeof changeSchema>;
export type SharedEndpoint = z.output<typeof sharedSchema>;
export type Unseen = z.output<typeof unseenSchema>;
