import { isMapping } from "./document";

/** Names under which policies hold what must not be printed: `secret`, `client_secret`, `credentials`, `api_key`. */
const SECRET_NAME = /secret|password|token|credential|private_?key|api_?key|authorization/i;

/** Shorter text stands in too many places to be cut out of a message. */
const SHORTEST = 4;

/** Every text that stands in a document under the name of a secret, at any depth, the longest first. */
export function secretsIn(value: unknown, named = false): string[] {
  if (typeof value === "string") return named && value.length >= SHORTEST ? [value] : [];
  const parts = Array.isArray(value)
    ? value.map((item) => ({ item, named }))
    : isMapping(value)
      ? Object.entries(value).map(([name, item]) => ({ item, named: named || SECRET_NAME.test(name) }))
      : [];
  return parts.flatMap(({ item, named }) => secretsIn(item, named)).sort((a, b) => b.length - a.length);
}

/** A text without these secrets, as they are or as JSON writes them. */
export function redacted(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .reduce((left, secret) => left.replaceAll(secret, "[secret]"), text);
}
