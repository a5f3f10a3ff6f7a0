import type { JsonObject } from "./api/json";
import { isMapping } from "./api/json";
import { sameSet } from "./document";
import type { CloudEndpointInputs } from "./schema";

/*
 * What the service decides where the program gives nothing. The state notes the service's choice, so that another live
 * value is known to be somebody's edit: an internal endpoint that was made public by hand must not pass for one that the
 * service made public.
 */

/** The inputs whose choice is noted. */
const CHOICES = ["bindings", "poolingEnabled"] as const;
type Choice = (typeof CHOICES)[number];

/** Where the state keeps the note. The two underscores keep it out of what Pulumi shows. */
export const CHOSEN_KEY = "__chosen";

/**
 * The note after a create, an update, an adoption, an import or a first description, of what the program does not give. It
 * stays as it is for as long as it can: what a later reply shows may be a hand edit that nobody has seen yet.
 *
 * @param live What the service shows now.
 * @param seen What the state held before, note included; undefined where the service had not described the endpoint yet.
 * @param sent What our update sent: with another URL the service was free to choose other bindings.
 */
export function chosenNote(
  live: JsonObject,
  given: readonly unknown[],
  seen?: JsonObject,
  sent: readonly string[] = [],
): JsonObject {
  const before = seen ?? withOff(live);
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
export function withOff(state: JsonObject): JsonObject {
  return { poolingEnabled: false, ...state };
}

function notedIn(state: JsonObject): { [K in Choice]?: unknown } {
  const note = state[CHOSEN_KEY];
  return isMapping(note) ? note : {};
}

/** An empty list says no more than none. */
function shown(name: Choice, state: JsonObject): unknown {
  const value = state[name];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}
