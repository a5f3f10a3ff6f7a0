import { type JsonObject, oneLine, type Path, pathText } from "../../sdk/traffic-policy/index";
import { asSecret, UNKNOWN } from "../pulumi/sentinels";
import { wireText } from "./documents";
import {
  decidedWithUrl,
  derivedWithUrl,
  documentFields,
  documentsAsData,
  inputFields,
  ownTexts,
  type PreviewInputs,
} from "./fields";
import { findSecrets, hasKey, MASKED } from "./secretSearch";

/*
 * The secret fields of a resource. A field is secret as a whole if the program marked a part of it, or if the service returned
 * a document with a value under a secret's name, or with the password of a URL. A dynamic provider does not receive marks. So
 * its inputs carry a note with the names of the secret fields, and so do the outputs, because a refresh receives nothing else.
 */

/** The property with the note: the names of the secret fields. */
export const SECRETS_KEY = "__secrets";

export function notedFields(props: JsonObject): string[] {
  const note = props[SECRETS_KEY];
  return Array.isArray(note) ? note.filter((field) => typeof field === "string") : [];
}

/** Properties with a note of these fields, or without a note if there are none. */
export function withNote(props: JsonObject, fields: Iterable<string>): JsonObject {
  const { [SECRETS_KEY]: _, ...others } = props;
  const all = [...new Set(fields)].sort();
  return all.length > 0 ? { ...others, [SECRETS_KEY]: all } : others;
}

/**
 * An answer for the engine. Its secret fields are marked, and noted for calls that bring no marks: its own noted fields, those
 * of the request, and each text that differs from the request and has a secret in it.
 *
 * @param accountKey The key of the account, which a policy may have in it to call the service.
 * @param asked The inputs of the request, or the outputs in the state.
 */
export function answerForEngine(answer: JsonObject, asked: JsonObject, accountKey?: string): JsonObject {
  const changed = ownTexts.filter((name) => wireText(answer[name]) !== wireText(asked[name]));
  const added = changed.filter((name) => hasSecretIn({ [name]: answer[name] }, accountKey));
  return withSecretsMarked(withNote(answer, [...notedFields(answer), ...notedFields(asked), ...added]));
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
export const hasSecrets = (props: JsonObject, accountKey?: string): boolean =>
  notedFields(props).length > 0 || hasSecretIn(props, accountKey);

function hasSecretIn(props: JsonObject, accountKey?: string): boolean {
  const data = documentsAsData(props);
  const isIn = (text: unknown) => findSecrets([text], accountKey).length > 0;
  // Only a key is recognized in a description.
  return documentFields.some((name) => isIn(data[name])) || hasKey(data["description"], accountKey);
}

/** The secret fields of properties with a note, and the outputs that reveal a secret URL. */
function secretFields(props: JsonObject): ReadonlySet<string> {
  const noted = notedFields(props);
  const withUrl = [...derivedWithUrl, ...decidedWithUrl].filter((name) => !(name in inputFields));
  return new Set(noted.includes("url") ? [...noted, ...withUrl] : noted);
}

/** The URL for messages. */
export function shownUrl(inputs: PreviewInputs): string {
  if (notedFields(inputs).includes("url")) return MASKED;
  return inputs.url === UNKNOWN ? "an endpoint whose URL is not known yet" : oneLine(inputs.url, 300);
}

/** The form of keys in the contract and in policies. Any other key may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

/** A place for messages. In a secret document, keys are masked that may be secret themselves. */
export function shownPath([field = "", ...path]: Path, inputs: JsonObject): string {
  const isSecret = notedFields(inputs).includes(`${field}`);
  const isShown = (part: string | number) => !isSecret || typeof part === "number" || PLAIN_KEY.test(part);
  return pathText([field, ...path.map((part) => (isShown(part) ? part : MASKED))]);
}
