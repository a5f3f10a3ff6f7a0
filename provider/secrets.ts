import { isMapping } from "./document";

/** Names under which policies hold what must not be printed: `secret`, `client_secret`, `credentials`, `api_key`. */
const SECRET_NAME = /secret|password|token|credential|private_?key|api_?key|authorization/i;

/** What stands in the place of a secret. */
export const MASKED = "[secret]";

/** Shorter text stands in too many places to be cut out of a message. */
export const SHORTEST_SECRET = 4;

/**
 * Every text that stands in a document under the name of a secret, at any depth, the longest first. A name counts for
 * text and lists of text; what is in an object has names of its own (`tokens: [{type: jwt, method: header}]`).
 */
export function secretsIn(value: unknown, named = false): string[] {
  if (typeof value === "string") return named && value.length >= SHORTEST_SECRET ? [value] : [];
  const parts = Array.isArray(value)
    ? value.map((item) => ({ item, named }))
    : isMapping(value)
      ? Object.entries(value).map(([name, item]) => ({ item, named: isSecretName(name) }))
      : [];
  return parts.flatMap(({ item, named }) => secretsIn(item, named)).sort((a, b) => b.length - a.length);
}

/**
 * A document as it may be shown: `[secret]` in place of what stands under the name of a secret, however short it is, and
 * of the given secrets wherever they stand.
 *
 * @param path Where in its document the value stands, whose names count too.
 */
export function maskedDocument(
  value: unknown,
  secrets: readonly string[],
  path: readonly unknown[] = [],
): unknown {
  const mask = (part: unknown, named: boolean): unknown => {
    if (typeof part === "string") return named ? MASKED : redacted(part, secrets);
    if (typeof part === "number") return named ? MASKED : part;
    if (Array.isArray(part)) return part.map((item) => mask(item, named));
    if (!isMapping(part)) return part;
    const all = Object.entries(part).map(([name, item]) => [
      redacted(name, secrets),
      mask(item, isSecretName(name)),
    ]);
    return Object.fromEntries(all);
  };
  const name = path.findLast((part) => typeof part === "string");
  return mask(value, typeof name === "string" && isSecretName(name));
}

const isSecretName = (name: string) => SECRET_NAME.test(name);

/** A text without these secrets, as they are or as JSON writes them. */
export function redacted(text: string, secrets: readonly string[]): string {
  return secrets.flatMap(spellings).reduce((left, secret) => left.replaceAll(secret, MASKED), text);
}

/** A service written in Go escapes more than JSON demands, so that its JSON can stand in HTML and in JavaScript. */
function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const go = json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [secret, json, go];
}
