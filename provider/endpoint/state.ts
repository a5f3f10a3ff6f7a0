import type { LiveEndpoint, Mark, WireChange } from "../api/contract";
import { isMapping, type JsonObject } from "../api/json";
import { withMark } from "../api/mark";
import { snakeCase } from "../api/replySchemas";
import { derivedFromUrl, normalizeUrl, schemeDiffers } from "../api/url";
import { VERSION } from "../api/version";
import { type Change, changesBetween, hasUnknown, sameSet, UNKNOWN } from "./documents";
import {
  choices,
  clearedFields,
  decidedWithUrl,
  derivedWithUrl,
  documentsAsData,
  documentsAsText,
  documentsForPreview,
  endpointFields,
  givenInputs,
  type Inputs,
  isLeftToTheService,
  isSatisfied,
  isSet,
  leftToTheService,
  type ManagedInput,
  managedInputs,
  requestInputs,
  wireValue,
} from "./fields";
import { checkedInputs, PROVIDER_KEY } from "./inputs";
import { notedFields, SECRETS_KEY } from "./secrets";

/*
 * The state of an endpoint: the service's fields, and notes. The names of notes start with two underscores, so that Pulumi
 * does not show them.
 */

/**
 * The note of the given inputs among those that the service may choose. A refresh only receives the outputs, and must know
 * which of them come from the program. (Any other input that exists and was not given is a difference anyway.)
 */
const GIVEN_KEY = "__given";

/** The note of the service's choice for those that were not given. */
export const CHOSEN_KEY = "__chosen";

/** The note of the account that the state was written with. */
export const ACCOUNT_KEY = "__account";

/** The note of the endpoint's mark. Every change of its metadata sends the mark again. */
export const MARK_KEY = "__mark";

/** The note of the entry: a random token, which tells apart two entries with the same endpoint. See `owners.ts`. */
export const ENTRY_KEY = "__entry";

/** The note of the version that wrote the state last. It alone is never a difference. */
const VERSION_KEY = "__version";

/** The notes that do not depend on the inputs. */
export interface ServiceNotes {
  /** The token of the entry. */
  entry: unknown;
  /** The fingerprint of the account. */
  account: string;
  mark: Mark | undefined;
}

/**
 * The outputs after a create, an update or an adoption. The value of an input that was sent stands in for one that the reply lacks:
 * the next refresh compares it.
 */
export function stateFromReply(
  live: LiveEndpoint,
  inputs: Inputs,
  notes: ServiceNotes,
  { before, sent }: { before?: JsonObject; sent: readonly ManagedInput[] },
): JsonObject {
  const fields = { ...documentsAsText(pick(inputs, sent)), ...fieldsFromLive(live, inputs.bindings) };
  const chosen = chosenNote(fields, givenInputs(inputs), before, sent);
  return { ...fields, ...notesFromInputs(inputs), ...chosen, ...noted(notes) };
}

const noted = ({ entry, account, mark }: ServiceNotes): JsonObject => ({
  [VERSION_KEY]: VERSION,
  [ENTRY_KEY]: entry,
  [ACCOUNT_KEY]: account,
  ...(mark && { [MARK_KEY]: mark }),
});

/** The notes of the inputs, because a refresh only receives the outputs. */
const notesFromInputs = (inputs: Inputs): JsonObject => ({
  ...pick(inputs, requestInputs),
  [GIVEN_KEY]: givenInputs(inputs),
});

/** The outputs after an update without a request: the old fields with new notes. */
export function stateWithNewNotes(olds: JsonObject, inputs: Inputs): JsonObject {
  const observed = without(olds, [...requestInputs, PROVIDER_KEY, CHOSEN_KEY, SECRETS_KEY]);
  const chosen = chosenNote(observed, givenInputs(inputs), olds);
  return { ...observed, ...notesFromInputs(inputs), ...chosen, [VERSION_KEY]: VERSION };
}

/**
 * The outputs and inputs of an imported endpoint. The note of the given inputs is left out, so that a program that gives less
 * keeps what exists.
 */
export function importedFromLive(
  live: LiveEndpoint,
  notes: ServiceNotes,
): { props: JsonObject; inputs: JsonObject } {
  const fields = fieldsFromLive(live, undefined);
  return { props: { ...fields, ...chosenNote(fields, []), ...noted(notes) }, inputs: inputsFromLive(live) };
}

/** The inputs that describe a live endpoint. */
export function inputsFromLive(live: LiveEndpoint): JsonObject {
  return documentsAsData(pick(fieldsFromLive(live, undefined), managedInputs));
}

/** The outputs with the note of the given inputs. Those of an imported endpoint lack it, so it is derived from the inputs. */
export function stateWithGiven(outputs: JsonObject, inputs: JsonObject): JsonObject {
  return GIVEN_KEY in outputs ? outputs : { ...outputs, [GIVEN_KEY]: givenInputs(checkedInputs(inputs)) };
}

/** The outputs and inputs of a refresh: all live values, and as inputs those that the program gives or must correct. */
export function refreshedFromLive(
  live: LiveEndpoint,
  stored: JsonObject,
): { props: JsonObject; inputs: JsonObject } {
  const fields = fieldsFromLive(live, stored["bindings"]);
  const recorded = stored[GIVEN_KEY];
  const given: unknown[] = Array.isArray(recorded) ? recorded : [];
  // Without this note no program manages the endpoint, and it gets no other note.
  const note = recorded !== undefined && {
    [GIVEN_KEY]: given,
    ...chosenNote(withOff(fields), given, stored),
  };
  // A read renews no note that does not depend on the fields, because a changed note would show as a difference.
  const props = { ...without(stored, OBSERVED), ...fields, ...note };

  // The service's choice is no input. But the next update reverts an edit of it, and a description or metadata that was not
  // given, so these are shown.
  const edited: ManagedInput[] = editedChoices(props);
  const isInput = (name: ManagedInput) =>
    !isLeftToTheService(name) || given.includes(name) || edited.includes(name);
  return {
    props,
    inputs: documentsAsData(pick(props, [...managedInputs.filter(isInput), ...requestInputs])),
  };
}

/**
 * The request body that sets these inputs. An empty text clears an input that is not given, as the contract requires.
 *
 * @param mark Is added to the metadata if that is sent and can hold a mark.
 */
export function wireFromInputs(inputs: Inputs, names: readonly ManagedInput[], mark?: Mark): WireChange {
  const change: WireChange = {};
  for (const name of names) {
    const value = name === "metadata" && mark ? withMark(inputs.metadata, mark) : undefined;
    Object.assign(change, { [snakeCase(name)]: value ?? wireValue(name, inputs[name]) });
  }
  return change;
}

/**
 * The contract's fields of an endpoint, with documents as canonical text if they can be parsed. Unknown fields are left out,
 * because the service may change them at any time, and each change would be drift.
 */
function fieldsFromLive(live: LiveEndpoint, bindings: unknown): JsonObject {
  const { id: _, ...fields } = documentsAsText(pick(live, Object.keys(endpointFields)));
  const url = typeof live.url === "string" ? (normalizeUrl(live.url) ?? live.url) : undefined;
  return {
    ...fields,
    ...(url !== undefined && { url }),
    // The order of bindings has no meaning, so the given order stays.
    ...(sameSet(live.bindings, bindings) && { bindings }),
  };
}

/** What a look at the service replaces in the state. All other properties stay. */
const OBSERVED = [...Object.keys(endpointFields), GIVEN_KEY, CHOSEN_KEY, PROVIDER_KEY];

const without = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));

/** The properties with a value. Some servers return an empty text instead of no value. */
function pick(from: JsonObject, names: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined && value !== "") picked[name] = value;
  }
  return picked;
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
 * @param live The service's fields.
 * @param before The state before, with its note. The default is for an endpoint that the service had not described.
 * @param sent The inputs that the update sent. With another URL, the service may choose other bindings.
 */
function chosenNote(
  live: JsonObject,
  given: readonly unknown[],
  before: JsonObject = withOff(live),
  sent: readonly string[] = [],
): JsonObject {
  const isDecidedAnew = (name: ManagedInput) =>
    sent.includes("url") && !sent.includes(name) && decidedWithUrl.includes(name);
  const entries = choices
    .filter((name) => !given.includes(name))
    .map((name) => {
      const kept = isDecidedAnew(name) ? undefined : (notedIn(before)[name] ?? nonEmptyValue(name, before));
      return [name, kept ?? nonEmptyValue(name, live)];
    });
  const chosen = entries.filter(([, value]) => value !== undefined);
  const note = Object.fromEntries(chosen);
  return Object.keys(note).length > 0 ? { [CHOSEN_KEY]: note } : {};
}

/** The choices whose live value differs from the noted one. A missing live value is no difference. */
function editedChoices(state: JsonObject): ManagedInput[] {
  const noted = notedIn(state);
  return choices.filter((name) => {
    const [before, now] = [noted[name], nonEmptyValue(name, state)];
    return before !== undefined && now !== undefined && before !== now && !sameSet(before, now);
  });
}

/** The inputs, completed with the noted choices for those that are not given. */
export function inputsWithChoices(inputs: Inputs, state: JsonObject): Inputs {
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined);
  return { ...notedIn(state), ...Object.fromEntries(given) } as Inputs;
}

/** Services omit the field of an endpoint that is not pooled. */
function withOff(state: JsonObject): JsonObject {
  return { poolingEnabled: false, ...state };
}

function notedIn(state: JsonObject): JsonObject {
  const note = state[CHOSEN_KEY];
  return isMapping(note) ? note : {};
}

/** An empty list counts as none. */
function nonEmptyValue(name: ManagedInput, state: JsonObject): unknown {
  const value = state[name];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

interface Difference {
  /** The inputs whose live value differs from the program's. An update sends them. */
  changed: ManagedInput[];
  /** Whether the endpoint must be replaced: the scheme of a URL cannot change in place. */
  replace: boolean;
  /** Whether the state's notes are out of date. An update corrects them without a request. */
  stale: boolean;
}

/** Compares the program's inputs with the last known values of the service. */
export function difference(state: JsonObject, news: Inputs): Difference {
  const olds = documentsAsData(state);
  const edited: ManagedInput[] = editedChoices(olds);
  const changed = managedInputs.filter((name) =>
    news[name] === undefined && isLeftToTheService(name)
      ? edited.includes(name)
      : !isSatisfied(name, olds[name], news[name]),
  );
  const given = givenInputs(news);
  const recorded = olds[GIVEN_KEY];
  return {
    changed,
    replace: changed.includes("url") && schemeDiffers(olds["url"], news.url),
    // A refresh adds an edited choice to the inputs, and `ignoreChanges` keeps it there, but the program did not give it.
    stale:
      (Array.isArray(recorded) &&
        leftToTheService.some(
          (name) => recorded.includes(name) !== given.includes(name) && !edited.includes(name),
        )) ||
      notedFields(news).some((field) => !notedFields(olds).includes(field)),
  };
}

/**
 * The places that differ, within documents too. A change with `ofInputs` is an input that was added or removed without a
 * change on the service.
 */
export function changedPlaces(state: JsonObject, news: Inputs): (Change & { ofInputs: boolean })[] {
  const { changed, stale } = difference(state, news);
  const olds = documentsAsData(state);
  const wanted = inputsWithChoices(news, olds);
  const live = changed.flatMap((name) => {
    const before = olds[name] === "" ? undefined : olds[name];
    // The order of bindings has no meaning, so an index would have none.
    const whole = isSet(name) && before !== undefined && wanted[name] !== undefined;
    return whole ? [{ path: [name], kind: "update" as const }] : changesBetween(before, wanted[name], [name]);
  });
  const given = givenInputs(news);
  const recorded: unknown[] = stale && Array.isArray(olds[GIVEN_KEY]) ? olds[GIVEN_KEY] : given;
  const noted = leftToTheService
    .filter((name) => !changed.includes(name) && recorded.includes(name) !== given.includes(name))
    .map((name): Change => ({ path: [name], kind: given.includes(name) ? "add" : "delete" }));
  return [
    ...live.map((change) => ({ ...change, ofInputs: false })),
    ...noted.map((change) => ({ ...change, ofInputs: true })),
  ];
}

/*
 * The outputs of a preview. Only certain values are known: the program's inputs, fields that the contract derives from the
 * URL, and fields that an update does not touch. Everything else is unknown until the service has answered.
 */

/** The outputs of a previewed create. */
export function previewCreate(inputs: Inputs): JsonObject {
  const isOpen = (name: string) => name !== "id" && !clearedFields.some((cleared) => cleared === name);
  return {
    ...unknown(Object.keys(endpointFields).filter(isOpen)),
    type: "cloud",
    ...addressOf(inputs),
    ...givenWithNotes(inputs),
  };
}

/** The outputs of a previewed update. */
export function previewUpdate(olds: JsonObject, inputs: Inputs): JsonObject {
  const { changed } = difference(olds, inputs);
  const observed = stateWithNewNotes(olds, inputs);
  if (changed.length === 0) return observed;

  const wanted: JsonObject = inputsWithChoices(inputs, olds);
  const kept = Object.fromEntries(
    Object.entries(observed).filter(([name]) => !changed.some((one) => one === name)),
  );
  const sent = changed.filter((name) => wanted[name] !== undefined).map((name) => [name, wanted[name]]);
  const moved = changed.includes("url") && {
    ...unknown(decidedWithUrl),
    ...addressOf(inputs),
  };
  return {
    ...kept,
    ...unknown(["updatedAt"]),
    ...moved,
    ...documentsForPreview(Object.fromEntries(sent)),
    ...givenWithNotes(inputs),
  };
}

function givenWithNotes(inputs: Inputs): JsonObject {
  return { ...documentsForPreview(inputs), ...notesFromInputs(inputs) };
}

function addressOf({ url }: Inputs): JsonObject {
  const derived = hasUnknown(url) ? undefined : derivedFromUrl(url);
  return derived ?? unknown(derivedWithUrl);
}

const unknown = (names: string[]): JsonObject => Object.fromEntries(names.map((name) => [name, UNKNOWN]));
