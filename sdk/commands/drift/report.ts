import { z } from "zod";
import { EXIT, EXIT_UNDEPLOYED } from "../command";

/*
 * The report of `drift` in the format of `--json`, and its outcome. New fields do not change the version. If a field is
 * removed or changes its meaning, the version increases.
 */

/** Replaces a policy that an edit by hand has made invalid, because it may contain a secret at any place. */
export const INVALID_POLICY = "[text that is no policy]";

/** A value in JSON; missing if that side has no value. */
const side = z.json().optional();

const changeSchema = z.object({
  /** The input: `url`, `trafficPolicy`, `description`, `metadata`, `bindings` or `poolingEnabled`. */
  field: z.string(),
  /** The place of the difference, also within a document: `trafficPolicy.on_http_request[0].actions`. */
  path: z.string(),
  /** What happened on the service: `added`, `removed` or `changed`. */
  kind: z.enum(["added", "removed", "changed"]),
  /** The value in the stack's state; missing if it has none. */
  expected: side,
  /** The value on the service; missing if it has none. */
  live: side,
  /** Whether the field has a secret in it, so that no values are shown. */
  secret: z.boolean(),
});

const driftedSchema = z.object({
  name: z.string(),
  urn: z.string(),
  type: z.string(),
  id: z.string(),
  url: z.string().optional(),
  drift: z.enum(["changed", "deleted"]),
  /** When the endpoint was last changed; missing if the service does not say it. */
  updatedAt: z.iso.datetime().optional(),
  /** The differences; empty if the endpoint was deleted. */
  changes: z.array(changeSchema),
});

/** A resource that a run began to create or to replace, and has not ended. Neither a refresh nor `destroy` reads it. */
const pendingCreateSchema = z.object({
  name: z.string(),
  urn: z.string(),
  type: z.string(),
  url: z.string().optional(),
  /** The id of the old endpoint of a replacement; missing for a new resource. */
  replaces: z.string().optional(),
  /** Whether the resource is of a pool, in which several endpoints have its URL. */
  pool: z.boolean(),
  /**
   * The endpoints on the resource's URL that no state has, and its old endpoint if the service still has it, because Pulumi skipped
   * the deletion (`retainOnDelete`, `deletedWith`); missing if unchecked.
   */
  left: z.array(z.string()).optional(),
  /** The endpoints on the resource's URL that are meant to be there (`--ignore`, or `ignore` in the projects file). */
  ignored: z.array(z.string()).optional(),
  /** The endpoints on the resource's URL that a state has. */
  managed: z.array(z.string()).optional(),
  /** The other stacks that have begun a create on the resource's URL. */
  alsoCreating: z.array(z.string()),
});

/** How to continue after a killed run. */
const recoverySchema = z.object({
  text: z.string(),
  /** The line to run; missing in a pool, and if something else comes first, which the text says. */
  command: z.string().optional(),
  /** The endpoints that the line takes over. No stack of the backend has them. */
  adopt: z.array(z.string()),
});

const uncheckedSchema = z.object({
  /** The resource or the account. */
  what: z.string(),
  reason: z.string(),
});

const stackSchema = z.object({
  /** `project/stack`, after the organization if one was given. */
  name: z.string(),
  project: z.string(),
  /** The number of cloud endpoints that the stack manages; 0 if its state could not be read. */
  endpoints: z.int(),
  /** The number of these endpoints that were compared with the service. Whether the others drifted is unknown. */
  compared: z.int(),
  /** Why the state may not match the deployed program, so that “no drift” proves little; missing if it matches. */
  undeployed: z.string().optional(),
  drifted: z.array(driftedSchema),
  /**
   * The line that puts back the drift, and stops if the program differs from the state; missing without drift, and while something of
   * the stack is undeployed, shared or unchecked.
   */
  repair: z.string().optional(),
  /** The number of operations that a run has begun and not ended, because it was killed or is still in progress. */
  pendingOperations: z.int(),
  pendingCreates: z.array(pendingCreateSchema),
  /** How to continue after a killed run; missing if nothing is pending. */
  recovery: recoverySchema.optional(),
  unchecked: z.array(uncheckedSchema),
});

const unmanagedSchema = z.object({
  id: z.string(),
  url: z.string().optional(),
  /** Whether pooling is enabled, so that other endpoints may have the same URL. */
  pool: z.boolean(),
  description: z.string().optional(),
  createdAt: z.iso.datetime().optional(),
  updatedAt: z.iso.datetime().optional(),
});

const accountSchema = z.object({
  /** The base URL of the service; missing if the settings do not give it. */
  service: z.string().optional(),
  stacks: z.array(z.string()),
  /** The number of cloud endpoints in the account. */
  endpoints: z.int(),
  /** The endpoints that no stack of the backends has, newest first. */
  unmanaged: z.array(unmanagedSchema),
  /** Endpoints that no checked stack has, and that are meant to be there (`--ignore`, or `ignore` in the projects file). */
  ignored: z.array(z.object({ id: z.string(), url: z.string().optional(), reason: z.string() })),
  /** The number of endpoints that other stacks have, or are creating. */
  elsewhere: z.int(),
  /** The number of endpoints that no checked stack has, and of which it is unknown whether another stack has them. */
  unknown: z.int(),
  /** The other stacks that have begun a create in a pool of the account: who has a member that no state has is unknown. */
  creating: z.array(z.string()),
  unchecked: z.array(uncheckedSchema),
});

/** The other stacks of the backends. */
const otherStacksSchema = z.object({
  /** The URLs of the backends. */
  backends: z.array(z.string()),
  /** The number of other stacks; missing if Pulumi does not list them. */
  count: z.int().optional(),
  /** Whether their states were read. If not, one of them may have an endpoint of a checked stack, too. */
  isRead: z.boolean(),
  /** The states that could not be read. As long as there is one, no endpoint counts as unmanaged. */
  unread: z.array(z.object({ name: z.string(), reason: z.string() })),
});

/** An endpoint of more than one resource. Each resource undoes the changes of the other. */
const sharedSchema = z.object({
  id: z.string(),
  resources: z.array(z.object({ stack: z.string(), name: z.string(), urn: z.string() })),
});

export const reportSchema = z.object({
  version: z.literal(1),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /**
   * `none`: no drift; `drift`: drift; `unchecked`: something could not be compared; `undeployed`: no drift, but the state of a stack
   * may not match its program.
   */
  outcome: z.enum(["none", "drift", "unchecked", "undeployed"]),
  /** 0, 7 for drift, 8 for an undeployed stack, 1 for everything else. */
  exitCode: z.int(),
  failOnUnmanaged: z.boolean(),
  stacks: z.array(stackSchema),
  accounts: z.array(accountSchema),
  otherStacks: otherStacksSchema,
  /** Endpoints that are in several states, or twice in one state. They count as drift. */
  shared: z.array(sharedSchema),
});

export type DriftReport = z.output<typeof reportSchema>;
export type StackReport = z.output<typeof stackSchema>;
export type OtherStacks = z.output<typeof otherStacksSchema>;
export type UnmanagedEndpoint = z.output<typeof unmanagedSchema>;
export type AccountReport = z.output<typeof accountSchema>;
export type DriftedEndpoint = z.output<typeof driftedSchema>;
export type FieldChange = z.output<typeof changeSchema>;
export type PendingCreateReport = z.output<typeof pendingCreateSchema>;
export type SharedEndpoint = z.output<typeof sharedSchema>;
export type Unchecked = z.output<typeof uncheckedSchema>;

type Findings = Pick<DriftReport, "stacks" | "accounts" | "shared" | "failOnUnmanaged">;

/** The outcome of the run. A partial check reports neither success nor drift. */
export function outcomeOf(findings: Findings): Pick<DriftReport, "outcome" | "exitCode"> {
  if (allUnchecked(findings).length > 0) return { outcome: "unchecked", exitCode: EXIT.failed };

  const isDrift = findings.stacks.some(({ drifted }) => drifted.length > 0) || findings.shared.length > 0;
  if (isDrift || (findings.failOnUnmanaged && countUnmanaged(findings) > 0))
    return { outcome: "drift", exitCode: EXIT.findings };
  if (findings.stacks.some(({ undeployed }) => undeployed !== undefined))
    return { outcome: "undeployed", exitCode: EXIT_UNDEPLOYED };
  return { outcome: "none", exitCode: EXIT.done };
}

export const allUnchecked = ({ stacks, accounts }: Findings): Unchecked[] =>
  [...stacks, ...accounts].flatMap(({ unchecked }) => unchecked);

export const countUnmanaged = ({ accounts }: Findings): number =>
  accounts.reduce((sum, { unmanaged }) => sum + unmanaged.length, 0);

/** Why it is unknown who has members of a pool. */
export const membersOf = ({ creating }: AccountReport): string =>
  `members of a pool cannot be told apart, and ${creating.join(", ")} is creating one`;
