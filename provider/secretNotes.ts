import type { JsonObject } from "./api/json";
import { decidedWithUrl } from "./api/url";
import type { CloudEndpointInputs } from "./schema";
import { MASKED } from "./secrets";

/*
 * What the program marked as secret. A dynamic provider is not told, and a state marks a document as a whole; so the places
 * are noted beside the inputs, and beside the outputs, which are all that a refresh is told. They are paths, and hold no
 * value.
 */

/** Where inputs and outputs note which places of the inputs are secret. */
export const SECRETS_KEY = "__secrets";

/** The key that makes an object something else than data to Pulumi, and what it has for a secret. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** A value as Pulumi's protocol marks it as secret. */
export const asSecret = (value: unknown): JsonObject => ({ [SIGNATURE]: SECRET, value });

/** The places that properties note, as Pulumi writes paths: `trafficPolicy.on_http_request[0].name`. */
export function notedPlaces(props: JsonObject): string[] {
  const noted = props[SECRETS_KEY];
  return Array.isArray(noted) ? noted.filter((place) => typeof place === "string") : [];
}

/** Properties with a note of these places; without one where there are none. */
export function withPlaces(props: JsonObject, places: Iterable<string>): JsonObject {
  const { [SECRETS_KEY]: _, ...others } = props;
  const all = [...new Set(places)].sort();
  return all.length > 0 ? { ...others, [SECRETS_KEY]: all } : others;
}

/** The top-level property that a place lies in. */
export const fieldOf = (place: string): string => /^[^.[]*/.exec(place)?.[0] ?? "";

/** Whether all that one note calls secret lies in places of the other. */
export function areNotedIn(news: JsonObject, olds: JsonObject): boolean {
  const noted = notedPlaces(olds);
  const isNoted = (place: string) =>
    noted.some((one) => place === one || (place.startsWith(one) && /[.[]/.test(place.charAt(one.length))));
  return notedPlaces(news).every(isNoted);
}

/** The URL as messages have it. */
export const shownUrl = (inputs: CloudEndpointInputs): string =>
  notedPlaces(inputs).includes("url") ? MASKED : inputs.url;

/** The fields of an answer that are secret, each as a whole: what moves within a policy would come back unmarked. */
export function secretFields(answer: JsonObject): ReadonlySet<string> {
  const fields = new Set(notedPlaces(answer).map(fieldOf));
  // What is derived from a secret URL tells it.
  if (fields.has("url")) for (const name of ["publicUrl", "hostport", ...decidedWithUrl]) fields.add(name);
  return fields;
}
