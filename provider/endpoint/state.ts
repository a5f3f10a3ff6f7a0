import { createHash, randomBytes } from "node:crypto";
import { isMapping, type JsonObject, normalizeUrl } from "../../sdk/traffic-policy/index";
import type { Endpoint, LiveEndpoint, WireChange } from "../service/contract";
import { snakeCase } from "../service/replySchemas";
import type { Settings } from "../service/settings";
import { schemeDiffers } from "../service/url";
import { VERSION } from "../service/version";
import { type Change, changesBetween, sameSet } from "./documents";
import {
  choices,
  decidedWithUrl,
  documentsAsData,
  documentsAsText,
  endpointFields,
  fieldNames,
  givenInputs,
  type Inputs,
  isSatisfied,
  isUnordered,
  leftToTheService,
  type ManagedInput,
  managedInputs,
  type PreviewInputs,
  requestInputs,
  wireValue,
} from "./fields";
import { PROVIDER_KEY } from "./inputs";
import { notedFields, SECRETS_KEY } from "./secrets";

/*
 * The state of an endpoint: the service's fields, and notes. The names of notes start with two underscores, so that Pulumi
 * does not show them.
 */

/** What Pulumi stores of an endpoint. Any part may be missing, because other tools write states, too. */
export type State = JsonObject & { [Field in keyof Endpoint]?: unknown };

/**
 * The note of the given inputs among those that the service may choose. A refresh only receives the outputs, and must know
 * which of them come from the program. (Any other input that exists and was not given is a difference anyway.)
 */
const GIVEN_KEY = "__given";

/** The note of the service's choice for those that were not given. */
export const CHOSEN_KEY = "__chosen";

/** The note of the account that the state was written with. */
export const ACCOUNT_KEY = "__account";

/** The note of the entry: a random token, which tells apart two entries with the same endpoint. See `holdings.ts`. */
export const ENTRY_KEY = "__entry";

/** The note of the version that wrote the state last. It alone is never a difference. */
export const VERSION_KEY = "__version";

/** The note of an endpoint that a program only reads (`CloudEndpoint.get`), so that no stack manages it. */
export const ONLY_READ_KEY = "__onlyRead";

/** What identifies an entry of the state. */
export interface Entry {
  token: unknown;
  /** The fingerprint of the account that it was written with. */
  account: string;
}

/** A short hash of base URL and key, which reveals neither. */
export function accountFingerprint({ baseUrl, apiKey }: Pick<Settings, "baseUrl" | "apiKey">): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}

/** A token for a new entry. */
export const newToken = (): string => randomBytes(8).toString("hex");

/** The notes that do not depend on the inputs. */
export const notesOfEntry = ({ token, account }: Entry): State => ({
  [VERSION_KEY]: VERSION,
  [ENTRY_KEY]: token,
  [ACCOUNT_KEY]: account,
});

/** The notes of the inputs, because a refresh only receives the outputs. */
export const notesFromInputs = (inputs: PreviewInputs): State => ({
  ...pick(inputs, requestInputs),
  [GIVEN_KEY]: givenInputs(inputs),
});

/**
 * The state after a create, an update or an adoption.
 *
 * @param before The state before an update.
 */
export function stateFromLive(
  live: LiveEndpoint,
  inputs: Inputs,
  notes: State,
  { before, sent }: { before: State | undefined; sent: readonly ManagedInput[] },
): State {
  const fields = fieldsFromLive(live, inputs.bindings);
  const chosen = choicesNote(fields, givenInputs(inputs), before, sent);
  return { ...fields, ...notesFromInputs(inputs), ...chosen, ...notes };
}

/** The state after an update without a request: the old fields with new notes. */
export function stateWithNewNotes(olds: State, inputs: PreviewInputs): State {
  const fields = without(olds, [...requestInputs, PROVIDER_KEY, CHOSEN_KEY, SECRETS_KEY]);
  const chosen = choicesNote(fields, givenInputs(inputs), olds);
  return { ...fields, ...notesFromInputs(inputs), ...chosen, [VERSION_KEY]: VERSION };
}

/**
 * The outputs and inputs of an imported endpoint. The note of the given inputs is left out, so that a program that gives less
 * keeps what exists.
 */
export function importedFromLive(live: LiveEndpoint, notes: State): { props: State; inputs: JsonObject } {
  const fields = fieldsFromLive(live, undefined);
  return { props: { ...fields, ...choicesNote(fields, []), ...notes }, inputs: inputsFromLive(live) };
}

/** The inputs that describe a live endpoint. */
export function inputsFromLive(live: LiveEndpoint): JsonObject {
  return documentsAsData(pick(fieldsFromLive(live, undefined), managedInputs));
}

/** The state with the note of the given inputs. The state of an imported endpoint lacks the note, so the note is derived from the inputs. */
export function stateWithGiven(state: State, inputs: JsonObject): State {
  return GIVEN_KEY in state ? state : { ...state, [GIVEN_KEY]: givenInputs(inputs) };
}

/** The outputs and inputs of a refresh: all live values, and as inputs those that the program gives or must correct. */
export function refreshedFromLive(live: LiveEndpoint, stored: State): { props: State; inputs: JsonObject } {
  const fields = fieldsFromLive(live, stored.bindings);
  const given = recordedGiven(stored);
  // Without this note no program manages the endpoint, and it gets no other note.
  const notes = given && { [GIVEN_KEY]: given, ...choicesNote(withOff(fields), given, stored) };
  // A read renews no note that does not depend on the fields, because a changed note would show as a difference.
  const replaced = [...Object.keys(endpointFields), GIVEN_KEY, CHOSEN_KEY, PROVIDER_KEY];
  const props: State = { ...without(stored, replaced), ...fields, ...notes };

  // The service's choice is no input. But the next update reverts an edit of it, and a description or metadata that was not
  // given, so these are shown.
  const shown = [...(given ?? []), ...editedChoices(props)];
  const inputs = managedInputs.filter((name) => !leftToTheService.includes(name) || shown.includes(name));
  return { props, inputs: documentsAsData(pick(props, [...inputs, ...requestInputs])) };
}

/** The request body that sets these inputs. An empty text clears an input that is not given, as the contract requires. */
export const wireFromInputs = (inputs: Inputs, names: readonly ManagedInput[]): WireChange =>
  Object.fromEntries(names.map((name) => [snakeCase(name), wireValue(name, inputs[name])]));

/**
 * The contract's fields of an endpoint, with documents as canonical text if they can be parsed. Unknown fields are left out,
 * because the service may change them at any time, and each change would be drift.
 *
 * @param bindings The given ones. Their order has no meaning, so it stays.
 */
function fieldsFromLive(live: LiveEndpoint, bindings: unknown): State {
  const { id: _, ...fields } = documentsAsText(pick({ ...live }, fieldNames));
  const url = typeof live.url === "string" ? (normalizeUrl(live.url) ?? live.url) : undefined;
  return {
    ...fields,
    ...(url !== undefined && { url }),
    ...(sameSet(live.bindings, bindings) && { bindings }),
  };
}

export const without = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));

/** The properties with a value. Some servers return an empty text instead of no value. */
export const pick = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.map((name) => [name, from[name]]).filter(([, value]) => value !== undefined && value !== ""),
  );

function recordedGiven(state: State): unknown[] | undefined {
  const note = state[GIVEN_KEY];
  return Array.isArray(note) ? note : undefined;
}

/*
 * The service's choices for inputs that the program does not give. The state notes them, so that another live value is
 * recognized as an edit by hand. Otherwise an internal endpoint that somebody made public would look like the service's
 * choice.
 */

/**
 * The note of the service's choices. An existing note stays, because a later reply may show an edit that no refresh has found
 * yet.
 *
 * @param before The state before, with its note. The default is for an endpoint that the service had not described.
 * @param sent The inputs that an update sent. With another URL, the service may choose other bindings.
 */
function choicesNote(
  fields: State,
  given: readonly unknown[],
  before: State = withOff(fields),
  sent: readonly string[] = [],
): State {
  const isChosenAnew = (name: ManagedInput) =>
    sent.includes("url") && !sent.includes(name) && decidedWithUrl.includes(name);
  const chosen = choices
    .filter((name) => !given.includes(name))
    .map((name) => {
      const kept = isChosenAnew(name) ? undefined : (notedChoices(before)[name] ?? choiceIn(before, name));
      return [name, kept ?? choiceIn(fields, name)];
    })
    .filter(([, value]) => value !== undefined);
  return chosen.length > 0 ? { [CHOSEN_KEY]: Object.fromEntries(chosen) } : {};
}

/** The choices whose live value differs from the noted one. A missing live value is no difference. */
function editedChoices(state: State): ManagedInput[] {
  return choices.filter((name) => {
    const [before, now] = [notedChoices(state)[name], choiceIn(state, name)];
    return before !== undefined && now !== undefined && before !== now && !sameSet(before, now);
  });
}

/** The inputs, completed with the noted choices for those that are not given. */
export function inputsWithChoices<Given extends PreviewInputs>(inputs: Given, state: State): Given {
  const missing = Object.entries(notedChoices(state)).filter(([name]) => !Object.hasOwn(inputs, name));
  return { ...inputs, ...Object.fromEntries(missing) };
}

function notedChoices(state: State): JsonObject {
  const note = state[CHOSEN_KEY];
  return isMapping(note) ? note : {};
}

/** Services omit the field of an endpoint that is not pooled. */
const withOff = (fields: State): State => ({ poolingEnabled: false, ...fields });

/** An empty list counts as none. */
function choiceIn(state: State, name: ManagedInput): unknown {
  const value = state[name];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

interface Difference {
  /** The inputs whose live value differs from the program's. An update sends them. */
  changed: ManagedInput[];
  /** The inputs that the program gives now and did not before, or the reverse. */
  regiven: ManagedInput[];
  /** Whether the endpoint must be replaced: the scheme of a URL cannot change in place. */
  replace: boolean;
  /** Whether the state's notes are out of date. An update corrects them without a request. */
  stale: boolean;
}

/** Compares the program's inputs with the last known values of the service. */
export function difference(state: State, inputs: PreviewInputs): Difference {
  const olds = documentsAsData(state);
  const edited = editedChoices(olds);
  const changed = managedInputs.filter((name) =>
    inputs[name] === undefined && leftToTheService.includes(name)
      ? edited.includes(name)
      : !isSatisfied(name, olds[name], inputs[name]),
  );
  const given = givenInputs(inputs);
  const before = recordedGiven(olds) ?? given;
  // A refresh adds an edited choice to the inputs, and `ignoreChanges` keeps it there, but the program did not give it.
  const regiven = leftToTheService.filter(
    (name) => before.includes(name) !== given.includes(name) && !edited.includes(name),
  );
  const hasNewSecret = notedFields(inputs).some((field) => !notedFields(olds).includes(field));
  return {
    changed,
    regiven,
    replace: changed.includes("url") && schemeDiffers(olds["url"], inputs.url),
    stale: regiven.length > 0 || hasNewSecret,
  };
}

/**
 * The places that differ, within documents too. A change with `ofInputs` is an input that was added or removed without a
 * change on the service.
 */
export function changedPlaces(state: State, inputs: PreviewInputs): (Change & { ofInputs: boolean })[] {
  const { changed, regiven } = difference(state, inputs);
  const olds = documentsAsData(state);
  const wanted = inputsWithChoices(inputs, olds);
  const live = changed.flatMap((name) => {
    const before = olds[name] === "" ? undefined : olds[name];
    // The order of bindings has no meaning, so an index would have none.
    const whole = isUnordered(name) && before !== undefined && wanted[name] !== undefined;
    return whole ? [{ path: [name], kind: "update" as const }] : changesBetween(before, wanted[name], [name]);
  });
  const ofInputs = regiven
    .filter((name) => !changed.includes(name))
    .map((name): Change => ({ path: [name], kind: inputs[name] === undefined ? "delete" : "add" }));
  return [
    ...live.map((change) => ({ ...change, ofInputs: false })),
    ...ofInputs.map((change) => ({ ...change, ofInputs: true })),
  ];
}
