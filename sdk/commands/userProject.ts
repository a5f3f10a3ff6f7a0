import { isMapping, type JsonObject, jsonOf, normalizeUrl, UserError } from "../../provider/data/index";
import { PROVIDER_KEY } from "../../provider/endpoint/inputs";
import { PROVIDER_TYPE, TYPES } from "../../provider/pulumi/typeTokens";
import { isDefaultProvider, partsOfUrn } from "../../provider/pulumi/urn";
import type { ConfigReader } from "../../provider/service/settings";
import {
  containsSecret,
  type ExportedResource,
  type ExportedState,
  PulumiFailed,
  parseState,
  plain,
  propsFromState,
  pulumi,
} from "../pulumi-cli/index";
import { lastPartOf } from "./stackNames";

/* The stacks of the user's own project, their states and their accounts, read with the Pulumi CLI, which never asks a question. */

export interface UserProject {
  /** The absolute path of the folder with the project file. */
  folder: string;
  name: string;
  /** The backend's URL in the project file. The environment wins over it. */
  backend?: string | undefined;
}

/** How many stacks are read at once: each export of a state is a process, and may be large. */
const MAX_CONCURRENT = 4;

/** The results of the work on all items, a few at once. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return results;
}

/** A stack's configuration, secrets decrypted. */
export async function stackConfig(
  { folder: cwd }: UserProject,
  stack: string,
  signal?: AbortSignal,
): Promise<ConfigReader> {
  const args = ["config", "--json", "--show-secrets", "--stack", stack];
  const { stdout } = await pulumi(args, { cwd, signal });
  const values = jsonOf(stdout);
  if (!isMapping(values)) throw new UserError("`pulumi config --json` wrote no JSON object");
  return (key) => {
    const entry = Object.hasOwn(values, key) ? values[key] : undefined;
    return isMapping(entry) && typeof entry["value"] === "string" ? entry["value"] : undefined;
  };
}

/** A stack's state, secrets decrypted. It is never written to disk. */
export const stackState = ({ folder }: UserProject, stack: string, signal?: AbortSignal) =>
  exported(["--show-secrets", "--stack", stack], folder, signal);

/** A state, its secrets encrypted unless `--show-secrets` is among the arguments. */
export async function exported(args: string[], cwd: string, signal?: AbortSignal): Promise<ExportedState> {
  return parseState((await pulumi(["stack", "export", ...args], { cwd, signal })).stdout);
}

/** Rethrows the error of a stack that cannot be read. If the backend lacks the stack, the message names the way out. */
export const explainUnreadable =
  (stack: string) =>
  (error: unknown): never => {
    if (!(error instanceof PulumiFailed) || !error.isUnknownStack) throw error;
    throw new UserError(
      `${error.message}. If it was removed or moved to another backend, remove its settings file, Pulumi.${lastPartOf(stack)}.yaml, or its name in the list. Or select its backend: PULUMI_BACKEND_URL, or \`backend:\` in Pulumi.yaml`,
      { cause: error },
    );
  };

/** Sets a secret of a stack's configuration. */
export async function setSecret(
  { folder: cwd }: UserProject,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  // The CLI removes one line break at the end.
  await pulumi(["config", "set", "--secret", name, "--stack", stack], { cwd, input: `${value}\n` });
}

/** A cloud endpoint in a stack's state, without what may be secret. */
export interface StateEntry {
  name: string;
  urn: string;
  type: string;
  id: string;
  /** The endpoint was replaced, or is being replaced. */
  isOld: boolean;
  /** The endpoint was deleted for a replacement, or its deletion was skipped, and the new endpoint was not created. */
  isPendingReplacement: boolean;
}

/** A cloud endpoint in a stack's state, with its properties. */
export interface ManagedEndpoint extends StateEntry {
  /** The reference to its provider, `URN::id`. */
  provider: string;
  /** The program's inputs, secrets decrypted. Never show them unmasked. */
  inputs: JsonObject;
  outputs: JsonObject;
  /** The properties that the state marks as secret, or that contain a secret. */
  secrets: ReadonlySet<string>;
  /** The paths whose changes the program ignores. */
  ignored: string[];
}

/** The cloud endpoints that a stack manages, without those that it only reads (`CloudEndpoint.get`). */
export const managedEndpoints = (state: ExportedState): ManagedEndpoint[] => endpointsIn(state).map(managed);

/**
 * A create that a run began, or that was to follow the deletion of a replaced endpoint, and that has not ended. If the run was
 * killed, the endpoint may exist nevertheless.
 */
export interface PendingCreate {
  /** The endpoint to be created, which has no id. If its create was not begun, this is the old endpoint. */
  wanted: ManagedEndpoint;
  /** The normalized URL of `wanted`. */
  url: string | undefined;
  /** The old endpoint of a replacement. */
  replaced: ManagedEndpoint | undefined;
}

/** The pending creates of a state, one for each resource. */
export function pendingCreates(state: ExportedState): PendingCreate[] {
  const all = managedEndpoints(state);
  const begun = (state.deployment.pending_operations ?? [])
    .filter(({ type, resource }) => type === "creating" && isCloudEndpointType(resource.type))
    .map(({ resource }) => managed(resource));
  const wanted = [...begun, ...all.filter(({ isPendingReplacement }) => isPendingReplacement)];
  return [...new Map(wanted.toReversed().map((one) => [one.urn, one])).values()].map((one) => ({
    wanted: one,
    url: normalizeUrl(String(one.inputs["url"])),
    replaced: all.find(({ isPendingReplacement, urn }) => isPendingReplacement && urn === one.urn),
  }));
}

const endpointsIn = ({ deployment }: ExportedState): ExportedResource[] =>
  (deployment.resources ?? []).filter(
    ({ type, external, id }) => isCloudEndpointType(type) && external !== true && Boolean(id),
  );

/**
 * The inputs of the stack's explicit providers, by the reference that endpoints have to their provider (`URN::id`). Every other
 * endpoint uses the account of the stack's configuration.
 */
export function explicitProviders({ deployment }: ExportedState): Map<string, JsonObject> {
  const all = (deployment.resources ?? []).filter(
    ({ type, urn }) => type === PROVIDER_TYPE && !isDefaultProvider(partsOfUrn(urn).name),
  );
  return new Map(all.map(({ urn, id, inputs = {} }) => [`${urn}::${id}`, plainValues(inputs)]));
}

/** Whether this is a cloud endpoint of the dynamic provider or of the plugin. */
const isCloudEndpointType = (type: string): boolean => Object.values<string>(TYPES).includes(type);

export function entryOf(resource: ExportedResource): StateEntry {
  const { urn, type, id = "", delete: isReplaced, pendingReplacement } = resource;
  const isPendingReplacement = pendingReplacement === true;
  const isOld = isReplaced === true || isPendingReplacement;
  return { name: partsOfUrn(urn).name, urn, type, id, isOld, isPendingReplacement };
}

function managed(resource: ExportedResource): ManagedEndpoint {
  const { inputs = {}, outputs = {}, provider = "", ignoreChanges } = resource;
  const all = [...Object.entries(inputs), ...Object.entries(outputs)];
  const { [PROVIDER_KEY]: _, ...setByProgram } = plainValues(inputs);
  return {
    ...entryOf(resource),
    provider,
    inputs: setByProgram,
    outputs: plainValues(outputs),
    secrets: new Set(all.filter(([, value]) => containsSecret(value)).map(([name]) => name)),
    ignored: Array.isArray(ignoreChanges) ? ignoreChanges.map(String) : [],
  };
}

/** The state's properties as data. A secret becomes its content, a resource its id, and a component its URN. */
const plainValues = (properties: JsonObject): JsonObject => plain(propsFromState(properties));
