import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import type { Path } from "../../../provider/document";
import { type ManagedInput, managedInputs } from "../../../provider/fields";
import { markedTexts } from "../../../provider/markedSecrets";
import { Redaction } from "../../../provider/redaction";
import { isSecretName, MASKED, secretsIn } from "../../../provider/secrets";

/*
 * Masks secrets in reports. Many people read a report, so more is masked than in an error message: everything below a key
 * that names a secret, and all copies of values that are secret in the state.
 */

/** A shorter text in a larger document may be an ordinary word (`header`). With it masked, the report would be unreadable. */
const SHORTEST_PART = 8;

/** `{name: "authorization", value: "…"}` */
const NAMES = ["name", "key", "header"];
const VALUES = ["value", "values"];

/**
 * The texts of an endpoint that a report must not show.
 *
 * @param fields The fields that the state keeps secret.
 */
export function secretTexts(documents: readonly JsonObject[], fields: ReadonlySet<string>): Redaction {
  const all = documents.flatMap((document) => [
    ...secretsIn(document),
    ...markedTexts(document).flatMap(({ text, kind }) => (kind === "whole" ? [text] : [])),
    ...managedInputs
      .flatMap((field: ManagedInput) => textsBelow(document[field], fields.has(field)))
      .filter(({ length }) => length >= SHORTEST_PART),
  ]);
  return new Redaction(all);
}

/** @param isSecret Whether the value is at the place of a secret. */
export function maskedValue(value: unknown, secrets: Redaction, isSecret: boolean): unknown {
  if (typeof value === "string") return isSecret ? MASKED : secrets.redacted(value);
  if (typeof value === "number") return isSecret || secrets.redacted(`${value}`) === MASKED ? MASKED : value;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets, isSecret));
  if (!isMapping(value)) return value;
  const all = Object.entries(value).map(([name, item]) => [
    secrets.redacted(name),
    maskedValue(item, secrets, isSecret || isSecretIn(value, name)),
  ]);
  return Object.fromEntries(all);
}

/** The value at a place of a document, and whether the place is below a key that names a secret. */
export function placeIn(document: unknown, path: Path): { value: unknown; isSecret: boolean } {
  let [value, isSecret] = [document, false];
  for (const name of path) {
    if (Array.isArray(value)) {
      value = value[Number(name)];
      continue;
    }
    const mapping = isMapping(value) ? value : {};
    isSecret ||= isSecretIn(mapping, String(name));
    value = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
  }
  return { value, isSecret };
}

/** The texts below keys that name secrets, or all texts if the whole value is secret. */
function textsBelow(value: unknown, isSecret: boolean): string[] {
  if (typeof value === "string") return isSecret ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => textsBelow(item, isSecret));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    textsBelow(item, isSecret || isSecretIn(value, name)),
  );
}

/** Whether a value is secret by its key, or by the name beside it. */
function isSecretIn(mapping: JsonObject, name: string): boolean {
  if (isSecretName(name)) return true;
  if (!VALUES.includes(name.toLowerCase())) return false;
  return Object.entries(mapping).some(
    ([beside, text]) =>
      NAMES.includes(beside.toLowerCase()) && typeof text === "string" && isSecretName(text),
  );
}
