import { createHash, randomBytes } from "node:crypto";
import { isMapping, type JsonObject, normalizeUrl } from "../data/index";
import type { Endpoint, WireChange } from "../service/contract";
import { snakeCase } from "../service/replySchemas";
import type { Settings } from "../service/settings";
import { schemeDiffers } from "../service/url";
import { VERSION } from "../service/version";
import { type Change, changesBetween, sameSet } from "./documents";
import {
  createOnlyInputs,
  documentsAsData,
  documentsAsText,
  endpointFields,
  fieldNames,
  type Inputs,
  inputsSetByProgram,
  isSatisfied,
  isUnordered,
  keptWhenOmitted,
  type ManagedInput,
  managedInputs,
  type PreviewInputs,
  recomputedWithUrl,
  serviceDefaulted,
  wireValue,
} from "./fields";
import { PROVIDER_KEY } from "./inputs";
import { notedSecrets, SECRET_FIELDS_KEY } from "./secrets";

/*
 * The state of an endpoint: the service's fields, and notes. The names of notes start with two underscores, so that Pulumi
 * does not show them.
 */

/** What Pulumi stores of an endpoint. Any part may be missing, because other tools write states, too. */
export type State = JsonObject & { [Field in keyof Endpoint]?: unknown };

/**
 * The note of the inputs that the program sets, among the inputs that keep a value when omitted. A refresh only receives the outputs,
 * and must know which of them come from the program. (Any other input with a live value must be set, or it is a difference.)
 */
const SET_BY_PROGRAM_KEY = "__setByProgram";

/** The note of the service's defaults for inputs that the program does not set. */
export const SERVICE_DEFAULTS_KEY = "__serviceDefaults";

/** The note of the entry: a random id, which tells apart two entries with the same endpoint. See `owners.ts`. */
export const ENTRY_ID_KEY = "__entryId";

/** The note of the version that wrote the state last. Another version is no difference. */
export const VERSION_KEY = "__version";

/** The note of base URL and key that the state was written with. */
export const FINGERPRINT_KEY = "__accountFingerprint";

/** A short hash of base URL and key, which reveals neither. */
export function accountFingerprint({ baseUrl, apiKey }: Pick<Settings, "baseUrl" | "apiKey">): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}

/**
 * The notes that do not depend on the inputs.
 *
 * @param entryId The entry's id. Default: a new one.
 */
export const entryNotes = (settings: Settings, entryId: unknown = randomBytes(8).toString("hex")): State => ({
  [VERSION_KEY]: VERSION,
  [ENTRY_ID_KEY]: entryId,
  [FINGERPRINT_KEY]: accountFingerprint(settings),
});

/** The notes of the inputs, because a refresh only receives the outputs. */
export const notesFromInputs = (inputs: PreviewInputs): State => ({
  ...pick(inputs, createOnlyInputs),
  [SET_BY_PROGRAM_KEY]: inputsSetByProgram(inputs),
});

/**
 * The state after a create, an update or an adoption.
 *
 * @param options.state The state before an update.
 */
export function stateFromLive(
  live: Endpoint,
  inputs: Inputs,
  notes: State,
  { state, sent }: { state: State | undefined; sent: readonly ManagedInput[] },
): State {
  const fields = fieldsFromLive(live, inputs.bindings);
  const defaults = defaultsNote(fields, inputsSetByProgram(inputs), state, sent);
  return { ...fields, ...notesFromInputs(inputs), ...defaults, ...notes };
}

/** The state after an update without a request: the old fields with new notes. */
export function stateWithNewNotes(state: State, inputs: PreviewInputs): State {
  const fields = omit(state, [...createOnlyInputs, PROVIDER_KEY, SERVICE_DEFAULTS_KEY, SECRET_FIELDS_KEY]);
  const defaults = defaultsNote(fields, inputsSetByProgram(inputs), state);
  return { ...fields, ...notesFromInputs(inputs), ...defaults, [VERSION_KEY]: VERSION };
}

/**
 * The outputs and inputs of an imported endpoint. The note of the set inputs is left out, so that a program that sets less
 * keeps what exists.
 */
export function importedFromLive(live: Endpoint, notes: State): { props: State; inputs: JsonObject } {
  const fields = fieldsFromLive(live, undefined);
  return { props: { ...fields, ...defaultsNote(fields, []), ...notes }, inputs: inputsFromLive(live) };
}

/** The inputs that describe a live endpoint, with documents as data. */
export const inputsFromLive = (live: Endpoint): JsonObject =>
  pick(documentsAsData(contractFields(live)), managedInputs);

/**
 * The state with the note of the set inputs. The state of an imported endpoint lacks the note, so the note is derived from the
 * inputs.
 */
export function stateWithSetByProgram(state: State, inputs: JsonObject): State {
  return SET_BY_PROGRAM_KEY in state ? state : { ...state, [SET_BY_PROGRAM_KEY]: inputsSetByProgram(inputs) };
}

/** The outputs and inputs of a refresh: all live values, and as inputs those that the program gives or must correct. */
export function refreshedFromLive(live: Endpoint, state: State): { props: State; inputs: JsonObject } {
  const fields = fieldsFromLive(live, state.bindings);
  const setByProgram = notedSetByProgram(state);
  // Without this note no program has set inputs, or the state is imported, and it gets no other note.
  const notes = setByProgram && {
    [SET_BY_PROGRAM_KEY]: setByProgram,
    ...defaultsNote(withPoolingOff(fields), setByProgram, state),
  };
  // A read renews no note that does not depend on the fields, because a changed note would show as a difference.
  const replaced = [...Object.keys(endpointFields), SET_BY_PROGRAM_KEY, SERVICE_DEFAULTS_KEY, PROVIDER_KEY];
  const props: State = { ...omit(state, replaced), ...fields, ...notes };

  // The service's default is no input. But the next update reverts an edit of it, and a description or metadata that was not
  // given, so these are shown.
  const shown = [...(setByProgram ?? []), ...editedDefaults(props)];
  const inputs = managedInputs.filter((name) => !keptWhenOmitted.includes(name) || shown.includes(name));
  return { props, inputs: documentsAsData(pick(props, [...inputs, ...createOnlyInputs])) };
}

/** The request body that sets these inputs. An empty text clears an input that is not given, as the contract requires. */
export const wireFromInputs = (inputs: Inputs, names: readonly ManagedInput[]): WireChange =>
  Object.fromEntries(names.map((name) => [snakeCase(name), wireValue(name, inputs[name])]));

/**
 * The outputs that describe a live endpoint, with documents as canonical text if they can be parsed.
 *
 * @param bindings The bindings of the program or the state. If only their order differs, it stays.
 */
function fieldsFromLive(live: Endpoint, bindings: unknown): State {
  const { id: _, ...fields } = documentsAsText(contractFields(live));
  return { ...fields, ...(sameSet(live.bindings, bindings) && { bindings }) };
}

/**
 * The contract's fields of an endpoint, with a normalized URL. Unknown fields are left out, because the service may change them at
 * any time, and each change would be drift.
 */
function contractFields(live: Endpoint): JsonObject {
  const url = typeof live.url === "string" ? (normalizeUrl(live.url) ?? live.url) : undefined;
  return { ...pick({ ...live }, fieldNames), ...(url !== undefined && { url }) };
}

export const omit = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));

/** The properties with a value. Some servers return an empty text instead of no value. */
export const pick = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.map((name) => [name, from[name]]).filter(([, value]) => value !== undefined && value !== ""),
  );

function notedSetByProgram(state: State): unknown[] | undefined {
  const note = state[SET_BY_PROGRAM_KEY];
  return Array.isArray(note) ? note : undefined;
}

/*
 * The service's defaults for inputs that the program does not set. The state notes them, so that another live value is
 * recognized as an edit by hand. Otherwise an internal endpoint that somebody made public would look like the service's
 * choice.
 */

/**
 * The note of the service's defaults. An existing note stays, because a later reply may show an edit that no refresh has found
 * yet.
 *
 * @param state The state so far, with its note. The default is for an endpoint that the service had not described.
 * @param sent The inputs that an update sent. With another URL, the service may choose other bindings.
 */
function defaultsNote(
  fields: State,
  setByProgram: readonly unknown[],
  state: State = withPoolingOff(fields),
  sent: readonly string[] = [],
): State {
  const isChosenAnew = (name: ManagedInput) =>
    sent.includes("url") && !sent.includes(name) && recomputedWithUrl.includes(name);
  const defaults = serviceDefaulted
    .filter((name) => !setByProgram.includes(name))
    .map((name) => {
      const kept = isChosenAnew(name) ? undefined : (notedDefaults(state)[name] ?? defaultIn(state, name));
      return [name, kept ?? defaultIn(fields, name)];
    })
    .filter(([, value]) => value !== undefined);
  return defaults.length > 0 ? { [SERVICE_DEFAULTS_KEY]: Object.fromEntries(defaults) } : {};
}

/** The defaults whose live value differs from the noted one. A missing live value is no difference. */
function editedDefaults(state: State): ManagedInput[] {
  return serviceDefaulted.filter((name) => {
    const [noted, now] = [notedDefaults(state)[name], defaultIn(state, name)];
    return noted !== undefined && now !== undefined && noted !== now && !sameSet(noted, now);
  });
}

/** The inputs, completed with the noted defaults for those that are not set. */
export function withServiceDefaults<T extends PreviewInputs>(inputs: T, state: State): T {
  const missing = Object.entries(notedDefaults(state)).filter(([name]) => !Object.hasOwn(inputs, name));
  return { ...inputs, ...Object.fromEntries(missing) };
}

function notedDefaults(state: State): JsonObject {
  const note = state[SERVICE_DEFAULTS_KEY];
  return isMapping(note) ? note : {};
}

/** Services omit the field of an endpoint that is not pooled. */
const withPoolingOff = (fields: State): State => ({ poolingEnabled: false, ...fields });

/** An empty list counts as none. */
function defaultIn(state: State, name: ManagedInput): unknown {
  const value = state[name];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

interface Difference {
  /** The inputs whose live value differs from the program's. An update sends them. */
  changed: ManagedInput[];
  /** The inputs that the program sets now and did not before, or the reverse. */
  setOrUnset: ManagedInput[];
  /** Whether the endpoint must be replaced: the scheme of a URL cannot change in place. */
  replace: boolean;
  /** Whether the state's notes are out of date. An update corrects them without a request. */
  hasStaleNotes: boolean;
}

/** Compares the program's inputs with the last known values of the service. */
export function difference(state: State, inputs: PreviewInputs): Difference {
  const known = documentsAsData(state);
  const edited = editedDefaults(known);
  const changed = managedInputs.filter((name) =>
    inputs[name] === undefined && keptWhenOmitted.includes(name)
      ? edited.includes(name)
      : !isSatisfied(name, known[name], inputs[name]),
  );
  const setByProgram = inputsSetByProgram(inputs);
  const setBefore = notedSetByProgram(known) ?? setByProgram;
  // A refresh adds an edited default to the inputs, and `ignoreChanges` keeps it there, but the program did not set it.
  const setOrUnset = keptWhenOmitted.filter(
    (name) => setBefore.includes(name) !== setByProgram.includes(name) && !edited.includes(name),
  );
  const hasNewSecret = notedSecrets(inputs).some((field) => !notedSecrets(known).includes(field));
  return {
    changed,
    setOrUnset,
    replace: changed.includes("url") && schemeDiffers(known["url"], inputs.url),
    // Another package's provider has written a state without a version.
    hasStaleNotes: setOrUnset.length > 0 || hasNewSecret || !(VERSION_KEY in state),
  };
}

/**
 * The places that differ, within documents too. `isInputDiff` is true for an input that was added or removed without a change on
 * the service.
 */
export function changedPaths(state: State, inputs: PreviewInputs): (Change & { isInputDiff: boolean })[] {
  const { changed, setOrUnset } = difference(state, inputs);
  const known = documentsAsData(state);
  const wanted = withServiceDefaults(inputs, known);
  const live = changed.flatMap((name) => {
    const before = known[name] === "" ? undefined : known[name];
    // The order of bindings has no meaning, so an index would have none.
    const whole = isUnordered(name) && before !== undefined && wanted[name] !== undefined;
    return whole ? [{ path: [name], kind: "update" as const }] : changesBetween(before, wanted[name], [name]);
  });
  const inputDiffs = setOrUnset
    .filter((name) => !changed.includes(name))
    .map((name): Change => ({ path: [name], kind: inputs[name] === undefined ? "delete" : "add" }));
  return [
    ...live.map((change) => ({ ...change, isInputDiff: false })),
    ...inputDiffs.map((change) => ({ ...change, isInputDiff: true })),
  ];
}
