import { isMapping, type JsonObject } from "../api/json";
import { oneLine } from "../api/text";
import { type Path, pathText, UNKNOWN, wireText } from "./documents";
import {
  decidedWithUrl,
  derivedWithUrl,
  documentFields,
  documentsAsData,
  type Inputs,
  inputFields,
} from "./fields";

/*
 * The secret fields of a resource. A field is secret as a whole if the program marked a part of it, or if the service returned
 * a document with a value under a secret's name, or with the password of a URL. A dynamic provider does not receive marks. So
 * its inputs carry a note with the names of the secret fields, and so do the outputs, because a refresh receives nothing else.
 */

/** The property with the note: the names of the secret fields. */
export const SECRETS_KEY = "__secrets";

/** The key that marks an object as special in Pulumi's protocol, and its value for a secret. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** A value that Pulumi's protocol marks as secret. */
export const asSecret = (value: unknown): JsonObject => ({ [SIGNATURE]: SECRET, value });

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
 * of the request, and each document that differs from the request and has a secret in it.
 *
 * @param asked The inputs of the request, or the outputs in the state.
 */
export function markedAnswer(answer: JsonObject, asked: JsonObject): JsonObject {
  const added = documentFields.filter(
    (name) =>
      answer[name] !== undefined &&
      (asked[name] === undefined || wireText(answer[name]) !== wireText(asked[name])) &&
      hasSecretPlaces({ [name]: answer[name] }),
  );
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
export const hasSecrets = (props: JsonObject): boolean =>
  notedFields(props).length > 0 || hasSecretPlaces(props);

function hasSecretPlaces(props: JsonObject): boolean {
  const data = documentsAsData(props);
  return secretPlaces(documentFields.map((name) => data[name])).length > 0;
}

/** The secret fields of properties with a note, and the fields that reveal them. */
function secretFields(props: JsonObject): ReadonlySet<string> {
  const fields = new Set(notedFields(props));
  // Fields that derive from a secret URL reveal it.
  if (fields.has("url"))
    for (const name of [...derivedWithUrl, ...decidedWithUrl]) if (!(name in inputFields)) fields.add(name);
  return fields;
}

/** The URL for messages. */
export function shownUrl(inputs: Inputs): string {
  if (notedFields(inputs).includes("url")) return MASKED;
  return inputs.url === UNKNOWN ? "an endpoint whose URL is not known yet" : oneLine(inputs.url, 300);
}

/** The form of keys in the contract and in policies. Any other key may be as secret as a value. */
const PLAIN_KEY = /^[a-z]+(_[a-z]+)*$/;

/** A place for messages. In a secret document, keys are masked that may be secret themselves. */
export function shownPlace([field = "", ...path]: Path, inputs: JsonObject): string {
  const isSecret = notedFields(inputs).includes(`${field}`);
  const isShown = (part: string | number) => !isSecret || typeof part === "number" || PLAIN_KEY.test(part);
  return pathText([field, ...path.map((part) => (isShown(part) ? part : MASKED))]);
}

/** Names of secret values in policies: `client_secret`, `password`, `x-api-key`. */
const SECRET_NAME = /secret|password|token|credential|private[_-]?key|api[_-]?key|authorization/i;

/** Names below which every value is secret: `credentials: {bob: …}`, `api_keys: [{value: …}]`. */
const NAME_OF_SECRETS_ALONE = /^(secret|password|credential|private[_-]?key|api[_-]?key)s?$/i;

/** The password in a URL, also one with `@` in it. Takes time linear in the text. */
const URL_PASSWORD = /:\/\/[^\s/?#"<>\\:@]*:([^\s/?#"<>\\]+)@/g;

/** Replaces a secret. */
export const MASKED = "[secret]";

/** The least length of a secret that is masked in reports and generated code. Shorter texts occur too often. */
export const SHORTEST_SECRET = 4;

/** The least length of a text that is recognized as the same secret in another place. Shorter ones may be ordinary words. */
export const UNMISTAKABLE = 8;

/** A secret and its place in a document. */
interface SecretPlace {
  path: Path;
  secret: string | number;
  /** Where the password of a URL starts in its text. Any other secret is the whole value. */
  at?: number;
}

/**
 * Which values a name makes secret: none, the texts and numbers directly under it and in lists there, or all below it. A name
 * with `token` in it may also be one of settings (`tokens: [{type: jwt, method: header}]`), so it does not reach into objects.
 */
type Reach = "none" | "values" | "all";

/**
 * Every text and number under a secret name in a document, and the passwords of URLs in all other texts, at any depth and of
 * any length. Even that a secret is empty is information.
 */
export function secretPlaces(value: unknown): SecretPlace[] {
  const find = (part: unknown, path: Path, reach: Reach): SecretPlace[] => {
    if (isSecretValue(part, reach)) return [{ path, secret: part }];
    if (typeof part === "string") return urlPasswords(part).map((password) => ({ path, ...password }));
    if (Array.isArray(part)) return part.flatMap((item, index) => find(item, [...path, index], reach));
    if (!isMapping(part)) return [];
    return Object.entries(part).flatMap(([name, item]) => find(item, [...path, name], reachOf(name, reach)));
  };
  return find(value, [], "none");
}

const urlPasswords = (text: string) =>
  [...text.matchAll(URL_PASSWORD)].map(({ index, 0: { length }, 1: secret = "" }) => ({
    secret,
    at: index + length - secret.length - 1,
  }));

/** The text with the passwords of its URLs masked. */
export const withoutPasswords = (text: string): string =>
  text.replace(URL_PASSWORD, (url, password: string) => `${url.slice(0, -password.length - 1)}${MASKED}@`);

/** The secrets that are long enough to be masked in other texts, the longest first. */
export function secretsIn(value: unknown): string[] {
  return secretPlaces(value)
    .filter(
      ({ secret }) => `${secret}`.length >= (typeof secret === "string" ? SHORTEST_SECRET : UNMISTAKABLE),
    )
    .map(({ secret }) => `${secret}`)
    .sort((a, b) => b.length - a.length);
}

/** Whether text directly under this name is secret. */
export const isSecretName = (name: string) => SECRET_NAME.test(name);

function reachOf(name: string, above: Reach): Reach {
  if (above === "all" || NAME_OF_SECRETS_ALONE.test(name)) return "all";
  return isSecretName(name) ? "values" : "none";
}

function isSecretValue(value: unknown, reach: Reach): value is string | number {
  return reach !== "none" && (typeof value === "string" || typeof value === "number");
}
