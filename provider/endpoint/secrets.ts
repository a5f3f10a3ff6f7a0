import { type Path, partsOf, pathText, SHORTEST_SECRET } from "../../sdk/traffic-policy/index";
import { asSecret, UNKNOWN } from "../pulumi/sentinels";
import type { JsonObject } from "../service/json";
import { oneLine } from "../service/text";
import { wireText } from "./documents";
import {
  decidedWithUrl,
  derivedWithUrl,
  documentFields,
  documentsAsData,
  inputFields,
  type PreviewInputs,
} from "./fields";

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
 * of the request, and each document that differs from the request and has a secret in it.
 *
 * @param asked The inputs of the request, or the outputs in the state.
 */
export function answerForEngine(answer: JsonObject, asked: JsonObject): JsonObject {
  const changed = documentFields.filter((name) => wireText(answer[name]) !== wireText(asked[name]));
  const added = changed.filter((name) => hasSecretIn({ [name]: answer[name] }));
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
export const hasSecrets = (props: JsonObject): boolean => notedFields(props).length > 0 || hasSecretIn(props);

function hasSecretIn(props: JsonObject): boolean {
  const data = documentsAsData(props);
  return findSecrets(documentFields.map((name) => data[name])).length > 0;
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

/** Names of secret values in policies: `client_secret`, `password`, `x-api-key`. */
const SECRET_NAME = /secret|password|token|credential|private[_-]?key|api[_-]?key|authorization/i;

/** Names below which every value is secret: `credentials: {bob: …}`, `api_keys: [{value: …}]`. */
const NAME_OF_SECRETS_ALONE = /^(secret|password|credential|private[_-]?key|api[_-]?key)s?$/i;

/** The password in a URL, also one with `@` in it. Takes time linear in the text. */
const URL_PASSWORD = /:\/\/[^\s/?#"<>\\:@]*:([^\s/?#"<>\\]+)@/g;

/** Replaces a secret. */
export const MASKED = "[secret]";

export { SHORTEST_SECRET };

/** The least length of a text that is recognized as the same secret in another place. Shorter ones may be ordinary words. */
export const UNMISTAKABLE = 8;

/** A secret in a document. */
interface FoundSecret {
  path: Path;
  secret: string | number;
}

/**
 * A name with its value in a document that stays text, because data cannot hold it: `"token": "…"`, `password=…`. Takes time
 * linear in the text.
 */
const NAMED_VALUE = /(?<![\w-])([\w-]+)["']?\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^\s"'{[,}][^\n,}]*)|[{[])/g;

/**
 * Every text and number under a secret name in a document, and the passwords of URLs in all other texts, at any depth and of
 * any length. Even that a secret is empty is information. A text in place of a document is secret as a whole if it names a secret.
 */
export function findSecrets(document: unknown): FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const [path, part] of partsOf(document)) {
    if (typeof part !== "string" && typeof part !== "number") continue;
    if (isSecretPath(path)) {
      found.push({ path, secret: part });
      continue;
    }
    const named = path.length > 1 ? [] : [...`${part}`.matchAll(NAMED_VALUE)];
    const values = named.flatMap(([, name = "", ...texts]) =>
      isSecretName(name) ? [texts.find((text) => text !== undefined)] : [],
    );
    const passwords = [...`${part}`.matchAll(URL_PASSWORD)].map(([, password]) => password);
    if (values.length > 0) found.push({ path, secret: part });
    for (const secret of [...values, ...passwords]) if (secret !== undefined) found.push({ path, secret });
  }
  return found;
}

/**
 * Whether a name makes the value at a path secret. A name with `token` in it may also be one of settings
 * (`tokens: [{type: jwt, method: header}]`), so it only counts for values directly under it and in lists there.
 */
function isSecretPath(path: Path): boolean {
  const names = path.filter((part) => typeof part === "string");
  return isSecretName(names.at(-1) ?? "") || names.some((name) => NAME_OF_SECRETS_ALONE.test(name));
}

/** The text with the passwords of its URLs masked. */
export const withoutPasswords = (text: string): string =>
  text.replace(URL_PASSWORD, (url, password: string) => `${url.slice(0, -password.length - 1)}${MASKED}@`);

/** The secrets that are long enough to be masked in other texts, the longest first. */
export function secretsIn(value: unknown): string[] {
  return findSecrets(value)
    .filter(
      ({ secret }) => `${secret}`.length >= (typeof secret === "string" ? SHORTEST_SECRET : UNMISTAKABLE),
    )
    .map(({ secret }) => `${secret}`)
    .sort((a, b) => b.length - a.length);
}

/** Whether text directly under this name is secret. */
export const isSecretName = (name: string) => SECRET_NAME.test(name);
