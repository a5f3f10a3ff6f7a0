import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { type Props, plain } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";
import { ignoreChanges } from "../ignoreChanges";
import { equal } from "../properties";
import {
  dependentsOf,
  isProvider,
  nameInUrn,
  providerUrn,
  type ResourceState,
  ROOT_STACK,
  typeInUrn,
} from "./checkpoint";
import type { Goal } from "./goals";
import type { Identities } from "./identities";
import { applyReplaceOnChanges, type Diff, mustReplace, resolveDiff, someDiff } from "./propertyDiff";
import type { ResourceProvider } from "./providerCalls";
import type { Context } from "./steps";
import type { PlannedStep } from "./summary";

/** The state of a run on which its decisions depend. */
export interface RunState extends Context {
  identities: Identities;
  /** The URNs of the only resources to change. Empty if the run may change any. */
  targets: ReadonlySet<string>;
  /** The URNs of the resources to replace even without a change. */
  forced: ReadonlySet<string>;
  /** The new states of this run, by URN. */
  news: ReadonlyMap<string, ResourceState>;
  /** The old states of resources that are deleted before their replacements are created. */
  deletedFirst: Set<ResourceState>;
  perform(step: PlannedStep): Promise<boolean>;
  /** Reports the failure of a step without ending the run. */
  fail(message: string, urn: string): void;
}

/** The error that ends a run after its message has been reported. */
export class Bail extends Error {
  override readonly name = "Bail";
}

/** Whether a run may change a resource. With targets, only the targets, providers and the stack may change. */
export function isTarget(targets: ReadonlySet<string>, urn: string): boolean {
  const type = typeInUrn(urn);
  return targets.size === 0 || targets.has(urn) || isProvider(type) || type === ROOT_STACK;
}

/** The step for a resource that is not a target, which keeps its old state. */
export function untargetedStep(urn: string, old: ResourceState | undefined): PlannedStep {
  if (!old) throw new Error(`the test engine cannot skip ${urn}: it is new and not one of the targets`);
  return { op: "same", urn: old.urn, old, new: { ...old } };
}

const desiredState = (urn: string, { state }: Goal, old?: ResourceState): ResourceState => ({
  ...state,
  urn,
  created: old?.created ?? "",
  modified: old?.modified ?? "",
});

/** Decides the steps for one registration. Imports at once, because the other steps depend on what the import reads. */
export async function decideSteps(urn: string, goal: Goal, run: RunState): Promise<PlannedStep[]> {
  const old = run.identities.find(urn, goal);
  const next = desiredState(urn, goal, old);
  const name = nameInUrn(urn);
  if (old && old.external !== next.external)
    throw new Unsupported(`a resource that is only read in one run, but not in another (${name})`);
  if (next.external) return [{ op: "read", urn, ...(old && { old }), new: next }];
  if (!isTarget(run.targets, urn)) return [untargetedStep(urn, old)];
  if (isProvider(next.type) && old && old.urn !== urn)
    throw new Unsupported(`aliases of providers (of ${name})`);
  // Compares the id in the program, because the provider of an imported resource may have returned another id.
  if (next.importID === "" || (old?.importID || old?.id) === next.importID)
    return stepsFor(goal, old, next, run);

  if (old) throw new Unsupported(`an import in place of an existing resource (${name})`);
  if (!(await run.perform({ op: "import", urn, new: next }))) return [];
  const steps = await stepsFor(goal, next, desiredState(urn, goal, next), run);
  return steps.filter(({ op }) => op !== "same");
}

async function stepsFor(
  { state: { inputs: given }, deleteBeforeReplace }: Goal,
  old: ResourceState | undefined,
  next: ResourceState,
  run: RunState,
): Promise<PlannedStep[]> {
  const { urn } = next;
  const provider = next.custom ? await run.providers.forResource(next) : undefined;
  const isDeleted = old !== undefined && run.deletedFirst.has(old);
  const isForced = run.forced.has(urn);
  // The check of a new resource gets no old inputs.
  const olds = old && !isDeleted && !isForced ? old.inputs : undefined;
  if (olds) next.inputs = withIgnored(urn, given, olds, next.ignoreChanges, run);
  if (provider) next.inputs = await check(provider, next, olds ?? {}, run);
  if (!old) return [{ op: "create", urn, new: next }];
  const replace: PlannedStep = { op: "replace", urn, old, new: next };
  const create: PlannedStep = { ...replace, op: "create-replacement" };
  if (isDeleted) return [replace, create];

  const asked = await decideDiff(old, next, provider, run);
  const diff = applyReplaceOnChanges(asked, next.replaceOnChanges);
  const { changes, changedKeys, detailed } = diff;
  const found = { urn, old, new: next, changedKeys, detailed };
  if (!old.pendingReplacement) {
    if (changes === "none" && old.initErrors.length === 0) return [{ op: "same", urn, old, new: next }];
    if (!mustReplace(diff)) return [{ ...found, op: "update" }];
  }

  if (next.protect && old.protect) {
    if (!run.dryRun) throw new Error(protectedMessage(urn));
    // A preview continues and shows the change that requires the replacement.
    run.fail(protectedMessage(urn), urn);
  }
  if (next.importID !== "")
    throw new Unsupported(`the replacement of ${nameInUrn(urn)}, which still has the option import`);
  // The second check gets no old inputs. Otherwise the replacement could reuse values such as generated names.
  if (provider && olds) next.inputs = await check(provider, { ...next, inputs: given }, {}, run);
  Object.assign(replace, found, { op: "replace" });
  Object.assign(create, found, { op: "create-replacement" });
  if (deleteBeforeReplace ?? diff.deleteBeforeReplace)
    return [...(await deletionsBefore(urn, old, run)), replace, create];
  return [{ ...create, pendingDelete: true }, replace];
}

async function check(
  provider: ResourceProvider,
  next: ResourceState,
  olds: Props,
  run: RunState,
): Promise<Props> {
  const { inputs, failures } = await provider.check(next.urn, olds, next.inputs);
  // Like Pulumi's engine, the message shows the value of a top-level input, even if it is secret.
  const values = plain(next.inputs);
  for (const { property, reason } of failures) {
    const what = property === "" ? "" : `: property ${property} value {${JSON.stringify(values[property])}}`;
    const message = `${next.type} resource '${nameInUrn(next.urn)}'${what} has a problem: ${reason}`;
    run.summary.report("error", message, next.urn);
  }
  if (failures.length > 0) throw new Bail(`resource ${next.urn} is invalid`);
  return inputs;
}

async function decideDiff(
  old: ResourceState,
  next: ResourceState,
  provider: ResourceProvider | undefined,
  run: RunState,
): Promise<Diff> {
  // The provider is not asked about a forced replacement, so only the option `deleteBeforeReplace` decides its order.
  if (run.forced.has(next.urn)) return someDiff("id");
  if (await isProviderReplaced(old, next, run)) return someDiff("provider");
  if (provider) return askDiff(provider, { ...old, urn: next.urn }, next.inputs, next.ignoreChanges, run);
  return { ...someDiff(), changes: equal(old.inputs, next.inputs) ? "none" : "some" };
}

async function askDiff(
  provider: ResourceProvider,
  old: ResourceState,
  inputs: Props,
  ignored: string[],
  run: RunState,
): Promise<Diff> {
  const diff = await provider.diff(old, inputs, ignored);
  return resolveDiff(diff, old.inputs, withIgnored(old.urn, inputs, old.inputs, ignored, run));
}

/** Whether a change of the provider requires a replacement. The new provider decides by both configurations. */
async function isProviderReplaced(old: ResourceState, next: ResourceState, run: RunState): Promise<boolean> {
  if (old.provider === next.provider) return false;
  if (old.provider === "" || next.provider === "") return true;
  const before = run.identities.old(providerUrn(old.provider));
  const after = run.news.get(providerUrn(next.provider));
  if (!before || !after) throw new Error(`failed to resolve provider reference: "${old.provider}"`);
  return run.providers.mustReplace(next.provider, before, after);
}

/** The inputs without the changes that the option `ignoreChanges` names. */
function withIgnored(urn: string, inputs: Props, olds: Props, paths: string[], run: RunState): Props {
  const ignored = ignoreChanges(inputs, olds, paths);
  const failed = `cannot ignore changes in added or removed elements of the path: ${JSON.stringify(ignored.failed.join(", "))}`;
  if (ignored.failed.length > 0) run.summary.report("info", failed, urn);
  return ignored.inputs;
}

/** The deletions before a replacement: first the dependents that must also be replaced, in reverse order, then the resource. */
async function deletionsBefore(urn: string, old: ResourceState, run: RunState): Promise<PlannedStep[]> {
  const dependents = await dependentsToReplace(old, run);
  const kept = dependents.find((dependent) => dependent.protect && !dependent.delete);
  if (kept) throw new Error(protectedMessage(kept.urn, ` as part of replacing "${urn}"`));
  for (const dependent of dependents) run.deletedFirst.add(dependent);
  const steps = dependents.reverse().map(
    (dependent): PlannedStep => ({
      op: dependent.delete ? "delete" : "delete-replaced",
      urn: dependent.urn,
      old: dependent,
    }),
  );
  return old.pendingReplacement ? steps : [...steps, { op: "delete-replaced", urn: old.urn, old }];
}

/**
 * The dependents that must be replaced together with `root`. The provider decides by a diff in which inputs from replaced
 * resources are unknown.
 */
async function dependentsToReplace(root: ResourceState, run: RunState): Promise<ResourceState[]> {
  const replaced = new Set([root.urn]);
  const handled = new Set([...run.identities.registered, ...[...run.deletedFirst].map(({ urn }) => urn)]);
  const found: ResourceState[] = [];
  for (const state of dependentsOf(root, run.checkpoint.olds, handled)) {
    if (!state.custom || state.external) continue;
    const isOrphaned = state.provider !== "" && replaced.has(providerUrn(state.provider));
    if (!isOrphaned && !(await wouldBeReplaced(state, replaced, run))) continue;
    replaced.add(state.urn);
    found.push(state);
  }
  return found;
}

async function wouldBeReplaced(
  state: ResourceState,
  replaced: ReadonlySet<string>,
  run: RunState,
): Promise<boolean> {
  const { propertyDependencies, inputs: olds, replaceOnChanges } = state;
  const concerned = Object.keys(olds).filter((key) =>
    (propertyDependencies[key] ?? []).some((urn) => replaced.has(urn)),
  );
  if (concerned.length === 0) return false;
  const inputs = { ...olds, ...Object.fromEntries(concerned.map((key) => [key, UNKNOWN])) };
  const provider = await run.providers.forResource(state);
  const asked = await askDiff(provider, state, inputs, state.ignoreChanges, run);
  return mustReplace(applyReplaceOnChanges(asked, replaceOnChanges));
}

const protectedMessage = (urn: string, why = "") =>
  `unable to replace resource "${urn}"${why}\nas it is currently marked for protection. To unprotect the resource, ` +
  "remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`";
