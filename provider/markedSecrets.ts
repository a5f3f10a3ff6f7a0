import { oneLine } from "./api/foreignText";
import { isMapping, type JsonObject } from "./api/json";
import { type Path, pathText, sameData, UNKNOWN } from "./document";
import {
  type CloudEndpointInputs,
  decidedWithUrl,
  derivedWithUrl,
  documentFields,
  inputFields,
  managedInputs,
  withData,
} from "./fields";
import { Redaction } from "./redaction";
import { MASKED, secretPlaces } from "./secrets";

/*
 * The values that the program marked as secret. A dynamic provider does not receive the marks, and a state marks a document as
 * a whole. So the inputs carry a note with the paths of the secrets, and so do the outputs, because a refresh receives
 * nothing else. The note contains no value.
 */

/** The property with the note: the paths of the secrets in the inputs. */
export const SECRETS_KEY = "__secrets";

/** The key that marks an object as special in Pulumi's protocol, and its value for a secret. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** A value that Pulumi's protocol marks as secret. */
export const asSecret = (value: unknown): JsonObject => ({ [SIGNATURE]: SECRET, value });

/** The noted places, in Pulumi's notation: `trafficPolicy.on_http_request[0].name`. */
export function notedPlaces(props: JsonObject): string[] {
  const noted = props[SECRETS_KEY];
  return Array.isArray(noted) ? noted.filter((place) => typeof place === "string") : [];
}

/** Properties with a note of these places, or without a note if there are none. */
export function withPlaces(props: JsonObject, places: Iterable<string>): JsonObject {
  const { [SECRETS_KEY]: _, ...others } = props;
  const all = [...new Set(places)].sort();
  return all.length > 0 ? { ...others, [SECRETS_KEY]: all } : others;
}

/** The top-level property of a place. */
export const fieldOf = (place: string): string => /^[^.[]*/.exec(place)?.[0] ?? "";

/** Whether each place of the new note lies in a place of the old one. */
export function areNotedIn(news: JsonObject, olds: JsonObject): boolean {
  const noted = notedPlaces(olds);
  const isNoted = (place: string) =>
    noted.some((one) => place === one || (place.startsWith(one) && /[.[]/.test(place.charAt(one.length))));
  return notedPlaces(news).every(isNoted);
}

/** The URL for messages. */
export function shownUrl(inputs: CloudEndpointInputs): string {
  if (notedPlaces(inputs).includes("url")) return MASKED;
  return inputs.url === UNKNOWN ? "an endpoint whose URL is not known yet" : oneLine(inputs.url, 300);
}

/** The secret fields of an answer, each as a whole: a secret that moves within a policy would come back unmarked. */
export function secretFields(answer: JsonObject): ReadonlySet<string> {
  const fields = new Set(notedPlaces(answer).map(fieldOf));
  // Fields that derive from a secret URL reveal it.
  if (fields.has("url"))
    for (const name of [...derivedWithUrl, ...decidedWithUrl]) if (!(name in inputFields)) fields.add(name);
  return fields;
}

/** The form of keys in the contract and in policies. Any other key may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

/** A path in a secret document, with keys masked that may be secret themselves. */
export const withoutKeys = ([field = "", ...path]: Path): Path => [
  field,
  ...path.map((part) => (typeof part === "number" || PLAIN_KEY.test(part) ? part : MASKED)),
];

/** The values that were marked as secret in the resources of this run. */
export class MarkedSecrets {
  /** Removes them from texts. */
  readonly redaction = new Redaction();

  /** Adds the values at the noted places of properties. */
  learn(...all: JsonObject[]): void {
    for (const { text, kind } of all.flatMap(markedTexts)) this.redaction.add(text, kind);
  }

  /**
   * An answer with its note: the noted places of the request, and each field that differs from the request and contains a
   * secret value or, in a document, a secret's name.
   *
   * @param asked The inputs of the request, or the outputs in the state.
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

/** A text that was marked, or a part of a larger value that was marked. */
interface MarkedText {
  text: string;
  kind: "whole" | "part";
}

/** The texts at the noted places of properties. */
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

/** The texts in a secret value. `true`, `false` and `null` are left out, because every text has them. */
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

/** A number in the spelling of JSON and of Go, which prints 12345678 as 1.2345678e+07. */
function spellingsOf(value: number): string[] {
  return [String(value), value.toExponential().replace(/([+-])(\d)$/, "$10$2")];
}
