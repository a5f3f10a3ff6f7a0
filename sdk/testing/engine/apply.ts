import type { Checkpoint, PendingType } from "./checkpoint";
import type { Report } from "./diffing";
import { importResource } from "./importStep";
import { InitFailed, type Provider } from "./provider";
import { isProviderType, type ResourceState } from "./resourceState";
import type { Step } from "./step";
import { equal, Secret, secret, UNKNOWN_TEXT } from "./values";

/** A protected resource was to be deleted. The others go on; as `deleteProtectedError`. */
export class Protected extends Error {
  override readonly name = "Protected";
  constructor(urn: string) {
    super(
      `resource "${urn}" cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the ` +
        "`protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the command:\n" +
        `\`pulumi state unprotect '${urn}'\``,
    );
  }
}

export interface ApplyContext {
  dryRun: boolean;
  checkpoint: Checkpoint;
  /** The provider of a state. */
  providerOf(state: Pick<ResourceState, "type" | "provider">): Promise<Provider>;
  /** A provider that did not change is to be ready for its resources; as `SameProvider`. */
  keepProvider(state: ResourceState): Promise<void>;
  report: Report;
}

const PENDING: Partial<Record<Step["op"], PendingType>> = {
  create: "creating",
  "create-replacement": "creating",
  update: "updating",
  delete: "deleting",
  "delete-replaced": "deleting",
  discard: "deleting",
  "discard-replaced": "deleting",
  read: "reading",
  "read-replacement": "reading",
  import: "importing",
  "import-replacement": "importing",
};

/**
 * Does a step and writes the checkpoint before and after. A resource that was made but is not ready is kept as one that
 * was made, and the error is thrown nevertheless. As `Step.Apply` and the `SnapshotMutation` around it.
 */
export async function apply(step: Step, context: ApplyContext): Promise<void> {
  const { checkpoint } = context;
  const subject = step.new ?? step.old;
  const pending = PENDING[step.op];
  const end = pending && subject ? checkpoint.begin(pending, subject) : undefined;
  let failure: unknown;
  try {
    await perform(step, context);
  } catch (error) {
    failure = error;
  }
  if (step.new && step.op !== "replace") markOutputs(step.new);
  const kept = failure === undefined || failure instanceof InitFailed;
  // What exists was not made from the new inputs; as `OnResourceStepPost` does for an update that failed half-way.
  if (failure instanceof InitFailed && step.op === "update" && step.old && step.new)
    step.new.inputs = { ...step.old.inputs };
  const record = (): void => {
    if (kept) recordIn(checkpoint, step);
  };
  if (end) end(record);
  else {
    record();
    if (kept && step.op !== "replace" && mustWrite(step)) checkpoint.save();
  }
  if (failure !== undefined) throw failure;
}

/** As `sameSnapshotMutation.mustWrite`: unchanged resources are not worth a write of the whole state each. */
function mustWrite({ op, old, new: next }: Step): boolean {
  if (op !== "same" || !old || !next) return true;
  const rest = (state: ResourceState): unknown => ({ ...state, inputs: 0, outputs: 0, initErrors: 0 });
  const same = JSON.stringify(rest(old)) === JSON.stringify(rest(next));
  return !same || !equal(old.inputs, next.inputs) || !equal(old.outputs ?? null, next.outputs ?? null);
}

function recordIn(checkpoint: Checkpoint, { op, old, new: next }: Step): void {
  switch (op) {
    case "import":
    case "import-replacement":
      if (next) checkpoint.markNew(next);
      return;
    case "create":
    case "create-replacement":
      if (next) checkpoint.markNew(next);
      if (old?.pendingReplacement) checkpoint.markDone(old);
      return;
    case "same":
    case "update":
    case "read":
    case "read-replacement":
      if (old) checkpoint.markDone(old);
      if (next) checkpoint.markNew(next);
      return;
    case "delete":
    case "delete-replaced":
    case "discard":
    case "discard-replaced":
      if (old && !old.pendingReplacement) checkpoint.markDone(old);
  }
}

async function perform(step: Step, context: ApplyContext): Promise<void> {
  switch (step.op) {
    case "same":
      return same(step, context);
    case "create":
    case "create-replacement":
      return create(step, context);
    case "update":
      return update(step, context);
    case "delete":
    case "delete-replaced":
    case "discard":
    case "discard-replaced":
      return remove(step, context);
    case "read":
    case "read-replacement":
      return read(step, context);
    case "import":
    case "import-replacement":
      return importResource(step, context);
  }
}

async function same({ old, new: next }: Step, { keepProvider }: ApplyContext): Promise<void> {
  if (!old || !next) return;
  next.id = old.id;
  next.outputs = old.outputs;
  // A provider that called changed inputs no change goes on with the old ones.
  if (isProviderType(next.type)) await keepProvider({ ...next, inputs: old.inputs });
}

async function create(step: Step, { dryRun, providerOf }: ApplyContext): Promise<void> {
  const { old, new: next } = step;
  if (!next) return;
  let failure: InitFailed | undefined;
  if (next.custom) {
    try {
      const made = await (await providerOf(next)).create(next, dryRun);
      next.id = made.id;
      next.outputs = made.outputs;
    } catch (error) {
      if (!(error instanceof InitFailed)) throw error;
      failure = error;
      next.id = error.id;
      next.outputs = error.properties;
      next.initErrors = error.reasons;
    }
  } else next.outputs = {};
  next.created = next.modified = new Date().toISOString();
  if (old && step.pendingDelete) old.delete = true;
  if (failure) throw failure;
}

async function update({ old, new: next }: Step, { dryRun, providerOf }: ApplyContext): Promise<void> {
  if (!old || !next) return;
  next.id = old.id;
  if (next.custom) {
    try {
      next.outputs = await (await providerOf(next)).update(old, next, dryRun);
    } catch (error) {
      if (!(error instanceof InitFailed)) throw error;
      next.outputs = error.properties;
      next.initErrors = error.reasons;
      next.modified = new Date().toISOString();
      throw error;
    }
  } else return;
  next.modified = new Date().toISOString();
}

async function remove(step: Step, { dryRun, providerOf }: ApplyContext): Promise<void> {
  const { old } = step;
  if (!old) return;
  const replacing = step.op === "delete-replaced" || step.op === "discard-replaced";
  if (!replacing && old.protect) throw new Protected(old.urn);
  // What Pulumi does not own, or was told to leave, is only forgotten.
  if (!dryRun && old.custom && !old.external && !old.retainOnDelete)
    await (await providerOf(old)).delete(old);
  if (step.pendingReplacement) old.pendingReplacement = true;
}

/** Reads happen in a preview too, unless even the id is not known yet. */
async function read(step: Step, { providerOf }: ApplyContext): Promise<void> {
  const { old, new: next } = step;
  if (!next) return;
  if (next.id === UNKNOWN_TEXT) next.outputs = {};
  else {
    const { urn, id, inputs, customTimeouts } = next;
    const request = { urn, id, inputs, state: inputs, timeout: customTimeouts.read };
    const found = await (await providerOf(next)).read(request);
    if (found.outputs === undefined) throw new Error(`resource '${next.id}' does not exist`);
    next.outputs = found.outputs;
    if (found.id !== "") next.id = found.id;
  }
  if (old && step.op === "read-replacement") old.delete = true;
  if (!old) return;
  next.created = old.created;
  next.modified = old.modified;
  if (!equal(next.inputs, old.inputs) || !equal(next.outputs, old.outputs ?? {}))
    next.modified = new Date().toISOString();
}

/** Outputs that were asked to be secret, or whose input was, are; as `continueExecuteStep`. */
export function markOutputs(state: ResourceState): void {
  const { outputs, inputs } = state;
  if (!outputs) return;
  const named = state.additionalSecretOutputs.filter((key) => key !== "id");
  const leaking = Object.keys(outputs).filter((key) => isSecret(inputs[key]));
  const found = [...named, ...leaking].filter((key) => outputs[key] !== undefined);
  if (found.length === 0) return;
  state.outputs = {
    ...outputs,
    ...Object.fromEntries(found.map((key) => [key, secret(outputs[key] ?? null)])),
  };
}

function isSecret(value: unknown): boolean {
  return value instanceof Secret;
}
