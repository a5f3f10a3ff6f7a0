import type { ApplyContext } from "./apply";
import { checkMessages } from "./goalState";
import { InitFailed, type ReadResult } from "./provider";
import { providerPackage, providerUrn, type ResourceState, typeOf } from "./resourceState";
import type { Step } from "./step";

/**
 * Takes over what exists: reads it by its id, in a preview too. What the program asks for is not looked at here but in
 * the steps that follow. As `ImportStep.Apply`.
 */
export async function importResource(step: Step, context: ApplyContext): Promise<void> {
  const { new: next, old, planned } = step;
  if (!next) return;
  if (planned?.refusal !== undefined) throw new Error(planned.refusal);
  const found = await read(next, context);
  if (found.outputs === undefined) throw new Error(`resource '${next.importID}' does not exist`);
  if (found.inputs === undefined)
    throw new Error(
      `provider does not support importing resources; please try updating the '${typeOf(next.urn).split(":")[0]}' plugin`,
    );
  next.id = found.id || next.importID;
  next.inputs = found.inputs;
  next.outputs = found.outputs;
  next.created = next.modified = new Date().toISOString();
  if (planned) {
    next.importID = "";
    await warnOfFailures(next, planned.properties, context);
  }
  if (step.pendingDelete && old) old.delete = true;
}

async function read(next: ResourceState, { providerOf }: ApplyContext): Promise<ReadResult> {
  const { urn, importID: id, customTimeouts } = next;
  const provider = await providerOf(next);
  try {
    return await provider.read({ urn, id, timeout: customTimeouts.read });
  } catch (error) {
    // What is not ready is taken over all the same.
    if (!(error instanceof InitFailed)) throw error;
    next.initErrors = error.reasons;
    return { id: error.id, outputs: error.properties, inputs: error.inputs };
  }
}

/** What the provider itself has read should pass its own check; the import goes on though it does not. */
async function warnOfFailures(
  next: ResourceState,
  properties: string[],
  { providerOf, report }: ApplyContext,
): Promise<void> {
  const { failures } = await (await providerOf(next)).check(next.urn, next.inputs, next.inputs);
  if (failures.length === 0) return;
  const reason =
    properties.length > 0
      ? "Try specifying a different set of properties to import with in the future."
      : `This is almost certainly a bug in the \`${providerPackage(typeOf(providerUrn(next.provider)))}\` provider.`;
  report(
    "warning",
    `One or more imported inputs failed to validate. ${reason} The import will still proceed, but you will need to ` +
      "edit the generated code after copying it into your program.",
    next.urn,
  );
  for (const message of checkMessages(next, failures)) report("warning", message, next.urn);
}
