import { z } from "zod";
import type { LiveEndpoint } from "../../../provider/api/contract";
import { isMapping, type JsonObject } from "../../../provider/api/json";
import { type Path, pathText } from "../../../provider/endpoint/documents";
import { documentsAsData, managedInputs } from "../../../provider/endpoint/fields";
import { checkedInputs } from "../../../provider/endpoint/inputs";
import { isSecretName, MASKED, secretsIn, withoutPasswords } from "../../../provider/endpoint/secrets";
import {
  CHOSEN_KEY,
  changedPlaces,
  inputsWithChoices,
  refreshedFromLive,
} from "../../../provider/endpoint/state";
import { isWithin, parsePath } from "../../propertyPath";
import type { Managed } from "../userProject";
import { BROKEN, type DriftedEndpoint, type FieldChange } from "./report";

/** The change on the service, by the kind of change that would repair it. */
const CHANGE_KINDS = { add: "removed", delete: "added", update: "changed" } as const;

/**
 * The drift of an endpoint; undefined if there is none. The provider's diff decides, as it does for `pulumi up`.
 *
 * @param live The live endpoint; undefined if it is gone.
 * @param expected The state before a repair. A repair refreshes the state, so afterwards it may have the live values.
 */
export function driftOf(
  managed: Managed,
  live: LiveEndpoint | undefined,
  expected: Managed = managed,
): DriftedEndpoint | undefined {
  const { name, urn, type, id } = managed;
  const url = maskedUrl(expected);
  const about = { name, urn, type, id, ...(url !== undefined && { url }) };
  if (!live) return { ...about, drift: "deleted", changes: [] };

  const outputs = documentsAsData(refreshedFromLive(live, managed.outputs).props);
  // The state notes the service's choices for inputs that are not given.
  const noted = { ...outputs, [CHOSEN_KEY]: expected.outputs[CHOSEN_KEY] };
  const inputs = inputsWithChoices(checkedInputs(expected.inputs), expected.outputs);
  const secrets = secretTexts([expected.inputs, outputs], expected.secrets);
  const ignored = expected.ignored.map((text) => parsePath(text) ?? [text]);
  const changes = changedPlaces(noted, checkedInputs(expected.inputs))
    .filter(({ path, ofInputs }) => !ofInputs && !ignored.some((each) => isWithin(path, each)))
    .map(({ path, kind }) =>
      fieldChange(path, CHANGE_KINDS[kind], inputs, outputs, secrets, expected.secrets),
    );
  return changes.length > 0 ? { ...about, drift: "changed", changes } : undefined;
}

function maskedUrl({ inputs, secrets }: Managed): string | undefined {
  const { url } = inputs;
  if (secrets.has("url")) return MASKED;
  return typeof url === "string" ? withoutCopies(url, secretTexts([inputs], secrets)) : undefined;
}

/**
 * @param secrets The secrets of both sides.
 * @param fields The fields that the state keeps secret.
 */
function fieldChange(
  path: Path,
  kind: FieldChange["kind"],
  inputs: JsonObject,
  outputs: JsonObject,
  secrets: readonly string[],
  fields: ReadonlySet<string>,
): FieldChange {
  const field = String(path[0]);
  const sides = [placeIn(inputs, path), placeIn(outputs, path)];
  const isSecret = sides.some((side) => side.isSecret);
  const [expected, live] = sides.map(({ value }) => {
    if (value === undefined) return undefined;
    if (field === "trafficPolicy" && path.length === 1 && typeof value === "string") return BROKEN;
    return fields.has(field) ? MASKED : json.parse(maskedValue(value, secrets, { isSecret }));
  });
  return {
    field,
    path: field + withoutCopies(pathText(path).slice(field.length), secrets),
    kind,
    ...(expected !== undefined && { expected }),
    ...(live !== undefined && { live }),
    secret: JSON.stringify([expected, live]).includes(MASKED),
  };
}

const json = z.json();

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
function secretTexts(documents: readonly JsonObject[], fields: ReadonlySet<string>): string[] {
  const values = documents.flatMap((document) =>
    managedInputs.map((field) => [field, document[field]] as const),
  );
  const all = values.flatMap(([field, value]) => [
    ...secretsIn(value),
    ...textsBelow(value, { isSecret: fields.has(field) }).filter(({ length }) => length >= SHORTEST_PART),
  ]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** The text with its copies of these secrets masked. */
const withoutCopies = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((parts, secret) => parts.flatMap((part) => part.split(secret)), [text]).join(MASKED);

/** @param isSecret Whether the value is at the place of a secret. */
export function maskedValue(
  value: unknown,
  secrets: readonly string[],
  { isSecret }: { isSecret: boolean },
): unknown {
  if (typeof value === "string") return isSecret ? MASKED : withoutCopies(withoutPasswords(value), secrets);
  if (typeof value === "number") return isSecret || secrets.includes(`${value}`) ? MASKED : value;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets, { isSecret }));
  if (!isMapping(value)) return value;
  const all = Object.entries(value).map(([name, item]) => [
    withoutCopies(name, secrets),
    maskedValue(item, secrets, { isSecret: isSecret || isSecretIn(value, name) }),
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
function textsBelow(value: unknown, { isSecret }: { isSecret: boolean }): string[] {
  if (typeof value === "string") return isSecret ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => textsBelow(item, { isSecret }));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    textsBelow(item, { isSecret: isSecret || isSecretIn(value, name) }),
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
