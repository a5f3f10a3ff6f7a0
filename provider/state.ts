import type { LiveEndpoint } from "./api/items";
import { checkedInputs, PROVIDER_KEY } from "./check";
import {
  GIVEN_KEY,
  givenInputs,
  isLeftToTheService,
  type ManagedInput,
  managedInputs,
  sameSet,
} from "./diff";
import { metadataFromText, policyFromText, wireText } from "./document";
import { ACCOUNT_KEY } from "./gone";
import { type Mark, withMark } from "./mark";
import { type CloudEndpointInputs, endpointFields, type JsonObject } from "./schema";
import { normalizeUrl } from "./url";
import type { WireChange } from "./wire";

/** Where the state notes the mark of an endpoint, which every change of its metadata sends again. */
export const MARK_KEY = "__mark";

/** What the state notes of the service, whatever the program gave. */
export interface ServiceNotes {
  /** The fingerprint of the account. */
  account: string;
  mark: Mark | undefined;
}

/** Outputs as the state holds them, after a create, an update or an adoption that the program asked for. */
export function outputsOf(live: LiveEndpoint, inputs: CloudEndpointInputs, notes: ServiceNotes): JsonObject {
  return { ...serviceFields(live, inputs.bindings), ...notesOf(inputs), ...noted(notes) };
}

const noted = ({ account, mark }: ServiceNotes): JsonObject => ({
  [ACCOUNT_KEY]: account,
  ...(mark && { [MARK_KEY]: mark }),
});

/** What the state notes beside the service's fields, because a refresh is told the outputs alone. */
export function notesOf(inputs: CloudEndpointInputs): JsonObject {
  return { ...pick(inputs, ["adopt"]), [GIVEN_KEY]: givenInputs(inputs) };
}

/** Outputs after an update that had nothing to send: what was seen, and the notes of today. */
export function unchangedOutputs(olds: JsonObject, inputs: CloudEndpointInputs): JsonObject {
  const { adopt: _adopt, [PROVIDER_KEY]: _code, ...seen } = olds;
  return { ...seen, ...notesOf(inputs) };
}

/**
 * Outputs and inputs of an endpoint that was there before the stack. What was given is not noted: a program that gives
 * less wants what is there all the same.
 */
export function imported(live: LiveEndpoint, notes: ServiceNotes): { props: JsonObject; inputs: JsonObject } {
  return { props: { ...serviceFields(live, undefined), ...noted(notes) }, inputs: inputsOf(live) };
}

/** The inputs that say what a live endpoint is. */
export function inputsOf(live: LiveEndpoint): JsonObject {
  return pick(serviceFields(live, undefined), managedInputs);
}

/** The outputs with the note of what was given, which those of an imported endpoint lack: its inputs tell it. */
export function withGiven(outputs: JsonObject, inputs: JsonObject): JsonObject {
  return GIVEN_KEY in outputs ? outputs : { ...outputs, [GIVEN_KEY]: givenInputs(checkedInputs(inputs)) };
}

/** Outputs and inputs as a refresh finds them: live values, and of the inputs those that are the program's. */
export function refreshed(live: LiveEndpoint, stored: JsonObject): { props: JsonObject; inputs: JsonObject } {
  const fields = serviceFields(live, stored["bindings"]);
  const given: unknown[] = Array.isArray(stored[GIVEN_KEY]) ? stored[GIVEN_KEY] : [];

  // The service's choice is no input; but a description or metadata that nobody gave will be cleared, so it is shown.
  const isInput = (name: ManagedInput) => !isLeftToTheService(name) || given.includes(name);
  const inputs = pick(fields, managedInputs.filter(isInput));
  const adopt = pick(stored, ["adopt"]);
  // A read renews neither, since a note that changed alone would show as a difference.
  const notes = pick(stored, [ACCOUNT_KEY, MARK_KEY]);
  return { props: { ...fields, ...adopt, ...notes, [GIVEN_KEY]: given }, inputs: { ...inputs, ...adopt } };
}

/** The state of an endpoint that was created, but that the service has not described yet. */
export function unfinishedOutputs(
  inputs: CloudEndpointInputs,
  provider: unknown,
  account: string,
): JsonObject {
  const code = provider !== undefined && { [PROVIDER_KEY]: provider };
  return { ...inputs, ...notesOf(inputs), ...noted({ account, mark: undefined }), ...code };
}

/** Whether the service's own fields are in this state; they are not after an unfinished create. */
export const isDescribed = (stored: JsonObject) => typeof stored["type"] === "string";

/**
 * A list item with the stored values of the outputs that it lacks: some a service shows only by id. Undefined where it
 * lacks an input, which may have been cleared.
 */
export function withoutGaps(item: LiveEndpoint, stored: JsonObject): LiveEndpoint | undefined {
  const gaps = Object.keys(endpointFields).filter((name) => item[name] === undefined && name in stored);
  if (gaps.some((name) => managedInputs.some((input) => input === name))) return undefined;
  return { ...item, ...pick(stored, gaps) };
}

/**
 * The body that sets these inputs. One that was not given is cleared, as the contract does it: with an empty text.
 *
 * @param mark Goes into the metadata, where that is sent and can hold one.
 */
export function wireChange(
  inputs: CloudEndpointInputs,
  names: readonly ManagedInput[],
  mark?: Mark,
): WireChange {
  const change: WireChange = {};
  for (const name of names) {
    if (name === "url") change.url = inputs.url;
    if (name === "trafficPolicy") change.traffic_policy = wireText(inputs.trafficPolicy ?? "");
    if (name === "description") change.description = inputs.description ?? "";
    if (name === "metadata")
      change.metadata = (mark && withMark(inputs.metadata, mark)) ?? wireText(inputs.metadata ?? "");
    if (name === "bindings" && inputs.bindings) change.bindings = inputs.bindings;
    if (name === "poolingEnabled" && inputs.poolingEnabled !== undefined)
      change.pooling_enabled = inputs.poolingEnabled;
  }
  return change;
}

/**
 * The contract's fields of an endpoint, documents as data. Fields that the contract does not know stay out: a new one
 * that changes by itself would show as a drift for ever.
 */
function serviceFields(live: LiveEndpoint, bindings: unknown): JsonObject {
  const { id: _, ...fields } = pick(live, Object.keys(endpointFields));
  const url = typeof live.url === "string" ? (normalizeUrl(live.url) ?? live.url) : undefined;
  return {
    ...fields,
    ...(url !== undefined && { url }),
    ...(fields["trafficPolicy"] !== undefined && {
      trafficPolicy: policyData(String(fields["trafficPolicy"])),
    }),
    ...(fields["metadata"] !== undefined && { metadata: metadataFromText(String(fields["metadata"])).data }),
    // The order of bindings means nothing, so it stays as it was given.
    ...(sameSet(live.bindings, bindings) && { bindings }),
  };
}

/** A policy that somebody broke by hand stays the text that it is, and so differs from every good one. */
function policyData(text: string): unknown {
  const parsed = policyFromText(text);
  return "data" in parsed ? parsed.data : text;
}

/** The properties that hold something; an empty text is how some servers say that there is nothing. */
function pick(from: JsonObject, names: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined && value !== "") picked[name] = value;
  }
  return picked;
}
