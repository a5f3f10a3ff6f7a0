import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { isSecret, secret } from "../../pulumi-cli/index";
import { equal } from "../properties";
import { type Checkpoint, isProvider, packageOf, type ResourceState } from "./checkpoint";
import { PartialFailure } from "./providerCalls";
import type { Providers } from "./providers";
import { OPS, type PlannedStep, type Summary } from "./summary";

/** The error of the deletion of a protected resource. Other deletions continue. */
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

/** The parts of a run that its steps use. */
export interface Context {
  dryRun: boolean;
  checkpoint: Checkpoint;
  providers: Providers;
  summary: Summary;
}

const pendingType = (op: PlannedStep["op"]) => OPS[op][3];

/** Performs a step, and writes the checkpoint before and after it. */
export async function perform(step: PlannedStep, context: Context): Promise<void> {
  const { checkpoint } = context;
  const { op, old, new: next } = step;
  if (op === "replace") return;
  const [type, resource] = [pendingType(op), next ?? old];
  const operation = type && resource && { type, resource };
  if (operation) checkpoint.begin(operation);
  try {
    await callProvider(step, context);
    if (next) markSecretOutputs(next);
    recordIn(checkpoint, step);
  } finally {
    if (operation) checkpoint.end(operation);
  }
  if (type && next && next.initErrors.length > 0) throw new Error(errorList(next.initErrors));
  // An unchanged resource needs no write. To write the whole state for every resource would be slow.
  if (!operation && !equal(old, next)) checkpoint.save();
}

function recordIn(checkpoint: Checkpoint, { op, old, new: next }: PlannedStep): void {
  const isCreated = op === "create" || op === "create-replacement";
  const isDeleted = pendingType(op) === "deleting";
  // The old state is kept until its replacement exists.
  if (old && (isCreated ? old.pendingReplacement : !(isDeleted && old.pendingReplacement)))
    checkpoint.drop(old);
  if (next && !isDeleted) checkpoint.add(next);
}

async function callProvider(step: PlannedStep, context: Context): Promise<void> {
  const { old, new: next } = step;
  switch (pendingType(step.op)) {
    case "creating":
      return next && create(step, next, context);
    case "updating":
      return old && next && update(old, next, context);
    case "deleting":
      return old && remove(step, old, context);
    case "reading":
      return next && read(step, next, context);
    case "importing":
      return next && importResource(next, context);
  }
  if (!old || !next) return;
  next.id = old.id;
  next.outputs = old.outputs;
  // Configures with the old inputs: a step `same` means that the provider ignores the change of its configuration.
  if (isProvider(next.type)) await context.providers.configureUnchanged({ ...next, inputs: old.inputs });
}

async function create(step: PlannedStep, next: ResourceState, { dryRun, providers }: Context): Promise<void> {
  next.outputs = {};
  if (next.custom)
    Object.assign(next, await resultOf((await providers.forResource(next)).create(next, dryRun)));
  next.created = next.modified = now();
  if (step.old && step.pendingDelete) step.old.delete = true;
}

async function update(
  old: ResourceState,
  next: ResourceState,
  { dryRun, providers }: Context,
): Promise<void> {
  next.id = old.id;
  if (!next.custom) return;
  const provider = await providers.forResource(next);
  const updated = provider.update(old, next, dryRun).then((outputs) => ({ id: old.id, outputs }));
  const { outputs, initErrors } = await resultOf(updated);
  Object.assign(next, { outputs, initErrors, modified: now() });
  // Keeps the old inputs, so that the next run finds the change again.
  if (initErrors.length > 0) next.inputs = old.inputs;
}

type ProviderResult = Pick<ResourceState, "id" | "outputs" | "initErrors">;

/** The result of a provider's create or update, also of one that succeeded in part. */
async function resultOf(work: Promise<Omit<ProviderResult, "initErrors">>): Promise<ProviderResult> {
  try {
    return { ...(await work), initErrors: [] };
  } catch (error) {
    if (!(error instanceof PartialFailure)) throw error;
    return { id: error.id, outputs: error.outputs, initErrors: error.reasons };
  }
}

/** The message for a partial success, in Pulumi's words. */
const errorList = (reasons: string[]): string =>
  [`${reasons.length} error${reasons.length === 1 ? "" : "s"} occurred:`, ...reasons].join("\n\t* ");

async function remove(step: PlannedStep, old: ResourceState, { dryRun, providers }: Context): Promise<void> {
  if (!/-replaced$/.test(step.op) && old.protect) throw new Protected(old.urn);
  // Resources that Pulumi does not manage or must retain only leave the state.
  if (!dryRun && old.custom && !old.external && !old.retainOnDelete)
    await (await providers.forResource(old)).delete(old);
  // Without `delete`, the replacement does not exist yet: it is created after this deletion.
  if (step.op === "delete-replaced" && !old.delete) old.pendingReplacement = true;
}

/** Reads a resource, also in a preview, unless its id is unknown. */
async function read({ old }: PlannedStep, next: ResourceState, { providers }: Context): Promise<void> {
  if (next.id === UNKNOWN) next.outputs = {};
  else {
    const found = await (await providers.forResource(next)).read({ ...next, outputs: next.inputs });
    if (found.outputs === undefined) throw new Error(`resource '${next.id}' does not exist`);
    next.outputs = found.outputs;
    next.id = found.id || next.id;
  }
  if (!old) return;
  const isSame = equal(next.inputs, old.inputs) && equal(next.outputs, old.outputs ?? {});
  next.created = old.created;
  next.modified = isSame ? old.modified : now();
}

/** Reads an existing resource by its id, also in a preview. The next steps compare it with the program. */
async function importResource(next: ResourceState, { providers }: Context): Promise<void> {
  const provider = await providers.forResource(next);
  const found = await provider.read({ urn: next.urn, id: next.importID });
  if (found.outputs === undefined) throw new Error(`resource '${next.importID}' does not exist`);
  if (found.inputs === undefined)
    throw new Error(
      `provider does not support importing resources; please try updating the '${packageOf(next.type)}' plugin`,
    );
  next.id = found.id || next.importID;
  next.inputs = found.inputs;
  next.outputs = found.outputs;
  next.created = next.modified = now();
}

/** Marks outputs as secret if the program requires it or if the input of the same name is secret. */
export function markSecretOutputs(state: ResourceState): void {
  const { outputs, inputs, additionalSecretOutputs } = state;
  if (!outputs) return;
  const isMarked = (key: string) =>
    (key !== "id" && additionalSecretOutputs.includes(key)) || isSecret(inputs[key]);
  state.outputs = Object.fromEntries(
    Object.entries(outputs).map(([key, value]) => [key, isMarked(key) ? secret(value) : value]),
  );
}

const now = () => new Date().toISOString();
