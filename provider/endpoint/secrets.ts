import { type JsonObject, oneLine, type Path, pathText } from "../data/index";
import { asSecret, UNKNOWN } from "../pulumi/sentinels";
import { wireText } from "./documents";
import {
  documentFields,
  documentsAsData,
  inputFields,
  type PreviewInputs,
  recomputedWithUrl,
  urlDerivedFields,
} from "./fields";
import { findSecrets, MASKED } from "./secretSearch";

/*
 * The secret fields of a resource. A field is secret as a whole if the program marked a part of it, or if the service returned
 * a document with a value under a secret's name, or with the password of a URL. A dynamic provider does not receive marks. So its
 * inputs carry a note with the names of the secret fields, and so do the outputs, because a refresh receives nothing else.
 */

/** The property with the note: the names of the secret fields. */
export const SECRET_FIELDS_KEY = "__secretFields";

export function notedSecrets(props: JsonObject): string[] {
  const note = props[SECRET_FIELDS_KEY];
  return Array.isArray(note) ? note.filter((field) => typeof field === "string") : [];
}

/** Properties with a note of these fields, or without a note if there are none. */
export function withSecretsNote(props: JsonObject, fields: Iterable<string>): JsonObject {
  const { [SECRET_FIELDS_KEY]: _, ...others } = props;
  const all = [...new Set(fields)].sort();
  return all.length > 0 ? { ...others, [SECRET_FIELDS_KEY]: all } : others;
}

/**
 * An answer for the engine. Its secret fields are marked, and noted for calls that bring no marks: its own noted fields, those
 * of the request, and each document that differs from the request and has a secret in it.
 *
 * @param request The inputs of the request, or the outputs in the state.
 */
export function answerForEngine(answer: JsonObject, request: JsonObject): JsonObject {
  const changed = documentFields.filter((name) => wireText(answer[name]) !== wireText(request[name]));
  const added = changed.filter((name) => hasSecretIn({ [name]: answer[name] }));
  return withSecretsMarked(
    withSecretsNote(answer, [...notedSecrets(answer), ...notedSecrets(request), ...added]),
  );
}

/**
 * Properties with these fields marked as secret, each as a whole: the engine marks values by their path, so a secret that moved
 * within a policy would otherwise come back unmarked.
 */
export function withSecretsMarked(
  props: JsonObject,
  fields: ReadonlySet<string> = secretFields(props),
): JsonObject {
  const mark = (name: string, value: unknown) =>
    fields.has(name) && value !== undefined ? asSecret(value) : value;
  return Object.fromEntries(Object.entries(props).map(([name, value]) => [name, mark(name, value)]));
}

/** Whether a text of the service about this resource may contain a secret. */
export const hasSecrets = (props: JsonObject): boolean =>
  notedSecrets(props).length > 0 || hasSecretIn(props);

function hasSecretIn(props: JsonObject): boolean {
  const data = documentsAsData(props);
  return findSecrets(documentFields.map((name) => data[name])).length > 0;
}

/** The secret fields of properties with a note, and the outputs that reveal a secret URL. */
function secretFields(props: JsonObject): ReadonlySet<string> {
  const noted = notedSecrets(props);
  const withUrl = [...urlDerivedFields, ...recomputedWithUrl].filter((name) => !(name in inputFields));
  return new Set(noted.includes("url") ? [...noted, ...withUrl] : noted);
}

/** The URL for messages. */
export function displayUrl(inputs: PreviewInputs): string {
  if (notedSecrets(inputs).includes("url")) return MASKED;
  return inputs.url === UNKNOWN ? "an endpoint whose URL is not known yet" : oneLine(inputs.url, 300);
}

/** The form of keys in the contract and in policies. Any other key may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

/** A place for messages. In a secret document, keys are masked that may be secret themselves. */
export function displayPath([field = "", ...path]: Path, inputs: JsonObject): string {
  const isSecret = notedSecrets(inputs).includes(`${field}`);
  const isShown = (part: string | number) => !isSecret || typeof part === "number" || PLAIN_KEY.test(part);
  return pathText([field, ...path.map((part) => (isShown(part) ? part : MASKED))]);
}
