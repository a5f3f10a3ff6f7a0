import { isMapping, type JsonObject } from "./api/json";
import { decidedWithUrl } from "./api/url";
import { documentFields, type Path, pathText, sameData, UNKNOWN, withData } from "./document";
import { Redaction } from "./redaction";
import { type CloudEndpointInputs, managedInputs } from "./schema";
import { MASKED, secretPlaces } from "./secrets";

/*
 * What the program marked as secret. A dynamic provider does not get the marks, and a state marks a document as a whole. So
 * the places are noted beside the inputs, and beside the outputs, which are all that a refresh gets. They are paths, and
 * hold no value.
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
export function shownUrl(inputs: CloudEndpointInputs): string {
  if (notedPlaces(inputs).includes("url")) return MASKED;
  return inputs.url === UNKNOWN ? "an endpoint whose URL is not known yet" : inputs.url;
}

/** The fields of an answer that are secret, each as a whole: what moves within a policy would come back unmarked. */
export function secretFields(answer: JsonObject): ReadonlySet<string> {
  const fields = new Set(notedPlaces(answer).map(fieldOf));
  // What is derived from a secret URL reveals it.
  if (fields.has("url")) for (const name of ["publicUrl", "hostport", ...decidedWithUrl]) fields.add(name);
  return fields;
}

/** A key as the contract and the policies write theirs; another one may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

/** A path in a secret document, without keys that may be as secret as values. */
export const withoutKeys = ([field = "", ...path]: Path): Path => [
  field,
  ...path.map((part) => (typeof part === "number" || PLAIN_KEY.test(part) ? part : MASKED)),
];

/** The values that were marked as secret in the resources of this run. */
export class MarkedSecrets {
  /** Cuts them out of texts. */
  readonly redaction = new Redaction();

  /** Takes the values from the places that the properties note. */
  learn(...all: JsonObject[]): void {
    for (const { text, kind } of all.flatMap(markedTexts)) this.redaction.add(text, kind);
  }

  /**
   * An answer with its note: the places that are noted of what it answers to, and every field that came otherwise than it
   * was and now holds one of the secrets, or in a document something under the name of a secret.
   *
   * @param asked The inputs that were to be set, or the outputs that the state had.
   */
  noted(answer: JsonObject, asked: JsonObject): JsonObject {
    const [now, before] = [withData(answer), withData(asked)];
    const moved = managedInputs.filter((name) => {
      const value = now[name];
      if (value === undefined || sameData(value, before[name])) return false;
      const isDocument = documentFields.some((field) => field === name);
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return this.redaction.isIn(text) || (isDocument && secretPlaces(value).length > 0);
    });
    const places = notedPlaces(asked);
    return withPlaces(answer, [
      ...places,
      ...moved.filter((name) => !places.some((place) => fieldOf(place) === name)),
    ]);
  }
}

/** A text that was marked, or that is a part of something larger that was. */
interface MarkedText {
  text: string;
  kind: "whole" | "part";
}

/** The texts at the places that properties note. */
export function markedTexts(props: JsonObject): MarkedText[] {
  const places = new Set(notedPlaces(props));
  if (places.size === 0) return [];
  const find = (value: unknown, path: Path): MarkedText[] => {
    if (places.has(pathText(path))) return textsOf(value, "whole");
    return partsOf(value).flatMap(([key, item]) => find(item, [...path, key]));
  };
  const fields = new Set([...places].map(fieldOf));
  const data = withData(props);
  return [...fields].flatMap((field) => find(data[field], [field]));
}

/** True, false and null are no secrets: every text has them. */
function textsOf(value: unknown, kind: MarkedText["kind"]): MarkedText[] {
  if (typeof value === "string") return [{ text: value, kind }];
  if (typeof value === "number") return spellingsOf(value).map((text) => ({ text, kind }));
  return partsOf(value).flatMap(([key, item]) => {
    const texts = textsOf(item, "part");
    return typeof key === "string" && !PLAIN_KEY.test(key) ? [{ text: key, kind: "part" }, ...texts] : texts;
  });
}

function partsOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return [...value.entries()];
  return isMapping(value) ? Object.entries(value) : [];
}

/** As JSON has a number, and as a program in Go prints a large one: 12345678 as 1.2345678e+07. */
function spellingsOf(value: number): string[] {
  return [String(value), value.toExponential().replace(/([+-])(\d)$/, "$10$2")];
}
