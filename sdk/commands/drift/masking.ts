import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import type { Path } from "../../../provider/endpoint/documents";
import { managedInputs } from "../../../provider/endpoint/fields";
import { isSecretName, MASKED, secretsIn, withoutPasswords } from "../../../provider/endpoint/secrets";

/*
 * Masks secrets in reports. Many people read a report, so more is masked than in an error message: everything below a key
 * that names a secret, the passwords of URLs, and all exact copies of values that are secret in the state.
 */

/** A shorter text in a larger document may be an ordinary word (`header`). With it masked, the report would be unreadable. */
const SHORTEST_PART = 8;

/** `{name: "authorization", value: "…"}` */
const NAMES = ["name", "key", "header"];
const VALUES = ["value", "values"];

/**
 * The texts of an endpoint that a report must not show, the longest first.
 *
 * @param fields The fields that the state keeps secret.
 */
export function secretTexts(documents: readonly JsonObject[], fields: ReadonlySet<string>): string[] {
  const values = documents.flatMap((document) =>
    managedInputs.map((field) => [field, document[field]] as const),
  );
  const all = values.flatMap(([field, value]) => [
    ...secretsIn(value),
    ...textsBelow(value, fields.has(field)).filter(({ length }) => length >= SHORTEST_PART),
  ]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** The text with its copies of these secrets masked. */
export const withoutCopies = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((parts, secret) => parts.flatMap((part) => part.split(secret)), [text]).join(MASKED);

/** @param isSecret Whether the value is at the place of a secret. */
export function maskedValue(value: unknown, secrets: readonly string[], isSecret: boolean): unknown {
  if (typeof value === "string") return isSecret ? MASKED : withoutCopies(withoutPasswords(value), secrets);
  if (typeof value === "number") return isSecret || secrets.includes(`${value}`) ? MASKED : value;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets, isSecret));
  if (!isMapping(value)) return value;
  const all = Object.entries(value).map(([name, item]) => [
    withoutCopies(name, secrets),
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
