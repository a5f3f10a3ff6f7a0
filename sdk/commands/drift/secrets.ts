import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import { type ManagedInput, managedInputs } from "../../../provider/diff";
import type { Path } from "../../../provider/document";
import { markedTexts } from "../../../provider/markedSecrets";
import { Redaction } from "../../../provider/redaction";
import { isSecretName, MASKED, secretsIn } from "../../../provider/secrets";

/*
 * What a report keeps to itself. It is published and read by many, so it hides more than a message to the one who runs
 * Pulumi does: all below the name of a secret, and of what a state keeps secret also the copies.
 */

/** Shorter text of a larger document may be any word (`header`), and would be cut out of everything. */
const SHORTEST_PART = 8;

/** `{name: "authorization", value: "…"}` */
const NAMES = ["name", "key", "header"];
const VALUES = ["value", "values"];

/**
 * The texts of an endpoint that no report may show.
 *
 * @param fields Those that the state keeps secret.
 */
export function secretTexts(documents: readonly JsonObject[], fields: ReadonlySet<string>): Redaction {
  const all = documents.flatMap((document) => [
    ...secretsIn(document),
    ...markedTexts(document).flatMap(({ text, kind }) => (kind === "whole" ? [text] : [])),
    ...managedInputs.flatMap((field: ManagedInput) =>
      partsBelow(document[field], fields.has(field)).filter(({ length }) => length >= SHORTEST_PART),
    ),
  ]);
  return new Redaction(all);
}

/** A value as a report shows it. `isSecret`: the place where it stands is one of a secret. */
export function shownValue(value: unknown, secrets: Redaction, isSecret: boolean): unknown {
  if (typeof value === "string") return isSecret ? MASKED : secrets.redacted(value);
  if (typeof value === "number") return isSecret || secrets.redacted(`${value}`) === MASKED ? MASKED : value;
  if (Array.isArray(value)) return value.map((item) => shownValue(item, secrets, isSecret));
  if (!isMapping(value)) return value;
  const all = Object.entries(value).map(([name, item]) => [
    secrets.redacted(name),
    shownValue(item, secrets, isSecret || isSecretIn(value, name)),
  ]);
  return Object.fromEntries(all);
}

/** Whether a place lies below the name of a secret. */
export function isSecretPlace(document: unknown, path: Path): boolean {
  let part = document;
  for (const name of path) {
    if (Array.isArray(part)) {
      part = part[Number(name)];
      continue;
    }
    const mapping = isMapping(part) ? part : {};
    if (isSecretIn(mapping, String(name))) return true;
    part = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
  }
  return false;
}

/** The texts below names of secrets; all texts where the whole is secret. */
function partsBelow(value: unknown, isSecret: boolean): string[] {
  if (typeof value === "string") return isSecret ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => partsBelow(item, isSecret));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    partsBelow(item, isSecret || isSecretIn(value, name)),
  );
}

/** Whether what a mapping has under this name is secret, by the name or by what stands beside it. */
function isSecretIn(mapping: JsonObject, name: string): boolean {
  if (isSecretName(name)) return true;
  if (!VALUES.includes(name.toLowerCase())) return false;
  return Object.entries(mapping).some(
    ([beside, text]) =>
      NAMES.includes(beside.toLowerCase()) && typeof text === "string" && isSecretName(text),
  );
}
