import type { JsonObject } from "./api/json";
import { isMapping } from "./api/json";
import { managedInputs } from "./diff";
import { metadataFromText, type Path, pathText, policyFromText, sameData } from "./document";
import { Redaction } from "./redaction";
import { fieldOf, notedPlaces, withPlaces } from "./secretNotes";
import { secretPlaces } from "./secrets";

/** A key as the contract and the policies write theirs; another one may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

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
    const moved = managedInputs.filter((name) => {
      const value = answer[name];
      if (value === undefined || sameData(value, asked[name])) return false;
      const isDocument = name === "trafficPolicy" || name === "metadata";
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
export interface MarkedText {
  text: string;
  kind: "whole" | "part";
}

/** The texts at the places that properties note. */
export function markedTexts(props: JsonObject): MarkedText[] {
  const places = new Set(notedPlaces(props));
  const find = (value: unknown, path: Path): MarkedText[] => {
    if (places.has(pathText(path))) return textsOf(value, "whole");
    return partsOf(value).flatMap(([key, item]) => find(item, [...path, key]));
  };
  const fields = new Set([...places].map(fieldOf));
  return [...fields].flatMap((field) => find(dataOf(field, props[field]), [field]));
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

/** A document as data, also before it has been checked. */
function dataOf(field: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (field === "metadata") return metadataFromText(value).data;
  const parsed = field === "trafficPolicy" ? policyFromText(value) : { data: value };
  return "data" in parsed ? parsed.data : value;
}

/** As JSON has a number, and as a program in Go prints a large one: 12345678 as 1.2345678e+07. */
function spellingsOf(value: number): string[] {
  return [String(value), value.toExponential().replace(/([+-])(\d)$/, "$10$2")];
}
