import type { LiveEndpoint, Mark, WireChange } from "./api/contract";
import { isMapping, type JsonObject } from "./api/json";
import { withMark } from "./api/mark";
import { normalizeUrl } from "./api/url";
import { endpointFields } from "./api/wire";
import { checkedInputs, PROVIDER_KEY } from "./check";
import { sameSet, wireText, withData, withTexts } from "./document";
import {
  type CloudEndpointInputs,
  givenInputs,
  isLeftToTheService,
  type ManagedInput,
  managedInputs,
} from "./schema";

/*
 * What the state holds of an endpoint: the service's fields, and notes under names with two underscores, which keep them
 * out of what Pulumi shows.
 */

/**
 * The note of which inputs left to the service were given: a refresh gets the outputs alone, and must know which of them are
 * the program's. (Of the others it need not know: what is there and was not given is a difference anyway.)
 */
export const GIVEN_KEY = "__given";

/** The note of what the service chose for those that were not. */
export const CHOSEN_KEY = "__chosen";

/** The note of the account that the state was written with. */
export const ACCOUNT_KEY = "__account";

/** The note of an endpoint's mark, which every change of its metadata sends again. */
export const MARK_KEY = "__mark";

/** What the state notes of the service, whatever the program gave. */
export interface ServiceNotes {
  /** The fingerprint of the account. */
  account: string;
  mark: Mark | undefined;
}

/** Outputs as the state holds them, after a create, an update or an adoption that the program asked for. */
export function outputsOf(
  live: LiveEndpoint,
  inputs: CloudEndpointInputs,
  notes: ServiceNotes,
  update: { before: JsonObject; sent: readonly ManagedInput[] } = { before: {}, sent: [] },
): JsonObject {
  const fields = serviceFields(live, inputs.bindings);
  const chosen = chosenNote(fields, givenInputs(inputs), described(update.before), update.sent);
  return { ...fields, ...notesOf(inputs), ...chosen, ...noted(notes) };
}

const noted = ({ account, mark }: ServiceNotes): JsonObject => ({
  [ACCOUNT_KEY]: account,
  ...(mark && { [MARK_KEY]: mark }),
});

/** What the state notes beside the service's fields, because a refresh gets the outputs alone. */
export function notesOf(inputs: CloudEndpointInputs): JsonObject {
  return { ...pick(inputs, ["adopt"]), [GIVEN_KEY]: givenInputs(inputs) };
}

/** Outputs after an update that had nothing to send: what was observed, and the notes of today. */
export function unchangedOutputs(olds: JsonObject, inputs: CloudEndpointInputs): JsonObject {
  const { adopt: _adopt, [PROVIDER_KEY]: _code, [CHOSEN_KEY]: _chosen, ...observed } = olds;
  return { ...observed, ...notesOf(inputs), ...chosenNote(observed, givenInputs(inputs), olds) };
}

/**
 * Outputs and inputs of an endpoint that was there before the stack. What was given is not noted: a program that gives
 * less wants what is there all the same.
 */
export function imported(live: LiveEndpoint, notes: ServiceNotes): { props: JsonObject; inputs: JsonObject } {
  const fields = serviceFields(live, undefined);
  return { props: { ...fields, ...chosenNote(fields, []), ...noted(notes) }, inputs: inputsOf(live) };
}

/** The inputs that describe a live endpoint. */
export function inputsOf(live: LiveEndpoint): JsonObject {
  return withData(pick(serviceFields(live, undefined), managedInputs));
}

/** The outputs with the note of what was given, which those of an imported endpoint lack: its inputs show it. */
export function withGiven(outputs: JsonObject, inputs: JsonObject): JsonObject {
  return GIVEN_KEY in outputs ? outputs : { ...outputs, [GIVEN_KEY]: givenInputs(checkedInputs(inputs)) };
}

/** Outputs and inputs as a refresh finds them: live values, and of the inputs those that are the program's. */
export function refreshed(live: LiveEndpoint, stored: JsonObject): { props: JsonObject; inputs: JsonObject } {
  const fields = serviceFields(live, stored["bindings"]);
  const recorded = stored[GIVEN_KEY];
  const given: unknown[] = Array.isArray(recorded) ? recorded : [];
  // Without a record of what was given no program manages the endpoint, and nothing is noted of it.
  const note = recorded !== undefined && {
    [GIVEN_KEY]: given,
    ...chosenNote(withOff(fields), given, described(stored)),
  };
  // A read renews neither the account nor the mark, since a note that changed alone would show as a difference.
  const kept = pick(stored, ["adopt", ACCOUNT_KEY, MARK_KEY]);
  const props = { ...fields, ...kept, ...note };

  // The service's choice is no input; but an edit of it, and a description or metadata that was not given, will be
  // put right, so that is shown.
  const edited: ManagedInput[] = editedChoices(props);
  const isInput = (name: ManagedInput) =>
    !isLeftToTheService(name) || given.includes(name) || edited.includes(name);
  return { props, inputs: withData(pick(props, [...managedInputs.filter(isInput), "adopt"])) };
}

/** The state of an endpoint that was created, but that the service has not described yet. */
export function partialOutputs(inputs: CloudEndpointInputs, provider: unknown, account: string): JsonObject {
  const code = provider !== undefined && { [PROVIDER_KEY]: provider };
  return { ...withTexts(inputs), ...notesOf(inputs), ...noted({ account, mark: undefined }), ...code };
}

/** Whether the service's own fields are in this state; they are not after a partial create. */
export const isDescribed = (stored: JsonObject) => typeof stored["type"] === "string";

const described = (stored: JsonObject) => (isDescribed(stored) ? stored : undefined);

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
 * The contract's fields of an endpoint, documents as canonical text where they can be parsed. Fields that the contract does
 * not know stay out: a new one that changes by itself would show as a drift for ever.
 */
function serviceFields(live: LiveEndpoint, bindings: unknown): JsonObject {
  const { id: _, ...fields } = withTexts(pick(live, Object.keys(endpointFields)));
  const url = typeof live.url === "string" ? (normalizeUrl(live.url) ?? live.url) : undefined;
  return {
    ...fields,
    ...(url !== undefined && { url }),
    // The order of bindings means nothing, so it stays as it was given.
    ...(sameSet(live.bindings, bindings) && { bindings }),
  };
}

/** The properties that hold something; some servers have an empty text for nothing. */
function pick(from: JsonObject, names: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined && value !== "") picked[name] = value;
  }
  return picked;
}

/*
 * What the service decides where the program gives nothing. The state notes the service's choice, so that another live
 * value is known to be an edit: an internal endpoint that was made public by hand must not pass for one that the
 * service made public.
 */

/** The inputs whose choice is noted. */
const CHOICES = ["bindings", "poolingEnabled"] as const;
type Choice = (typeof CHOICES)[number];

/**
 * The note after a create, an update, an adoption, an import or a first description, of what the program does not give. It
 * stays as it is for as long as it can: what a later reply shows may be a hand edit that no refresh has found yet.
 *
 * @param live What the service shows now.
 * @param before What the state had before, note included. The default is for an endpoint that the service had not described.
 * @param sent What our update sent: with another URL the service was free to choose other bindings.
 */
function chosenNote(
  live: JsonObject,
  given: readonly unknown[],
  before: JsonObject = withOff(live),
  sent: readonly string[] = [],
): JsonObject {
  const movedOn = sent.includes("url") && !sent.includes("bindings");
  const entries = CHOICES.filter((name) => !given.includes(name)).map((name) => {
    const kept = movedOn && name === "bindings" ? undefined : (notedIn(before)[name] ?? shown(name, before));
    return [name, kept ?? shown(name, live)];
  });
  const note = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  return Object.keys(note).length > 0 ? { [CHOSEN_KEY]: note } : {};
}

/** The choices whose live value is not the noted one. What the service does not show is no difference. */
export function editedChoices(state: JsonObject): Choice[] {
  const noted = notedIn(state);
  return CHOICES.filter((name) => {
    const [before, now] = [noted[name], shown(name, state)];
    return before !== undefined && now !== undefined && before !== now && !sameSet(before, now);
  });
}

/** The inputs with what the service chose for those that are not given. */
export function withChosen(inputs: CloudEndpointInputs, state: JsonObject): CloudEndpointInputs {
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined);
  return { ...notedIn(state), ...Object.fromEntries(given) } as CloudEndpointInputs;
}

/** An endpoint that is not described as pooled is not: services leave out what is off. */
function withOff(state: JsonObject): JsonObject {
  return { poolingEnabled: false, ...state };
}

function notedIn(state: JsonObject): { [K in Choice]?: unknown } {
  const note = state[CHOSEN_KEY];
  return isMapping(note) ? note : {};
}

/** An empty list means the same as none. */
function shown(name: Choice, state: JsonObject): unknown {
  const value = state[name];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}
