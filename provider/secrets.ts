import { isMapping } from "./api/json";
import type { Path } from "./document";

/** Names under which policies hold what must not be printed: `client_secret`, `password`, `x-api-key`. */
const SECRET_NAME = /secret|password|token|credential|private[_-]?key|api[_-]?key|authorization/i;

/** Names of nothing but secrets, whatever form they have: `credentials: {bob: …}`, `api_keys: [{value: …}]`. */
const NAME_OF_SECRETS_ALONE = /^(secret|password|credential|private[_-]?key|api[_-]?key)s?$/i;

/** What stands in the place of a secret. */
export const MASKED = "[secret]";

/** Shorter text stands in too many places to be cut out of a message. */
export const SHORTEST_SECRET = 4;

/** Long enough that a text which holds it somewhere else means the same secret, and not a word or number like any other. */
export const UNMISTAKABLE = 8;

/** Where in a document a secret stands. */
interface SecretPlace {
  path: Path;
  secret: string | number;
}

/**
 * How far a name reaches: to the text, the numbers and the lists of them right under it, or to all below. A name that
 * has a secret's in it may as well be one of settings (`tokens: [{type: jwt, method: header}]`), so what is in an object
 * under it has names of its own.
 */
type Reach = "none" | "values" | "all";

/**
 * Every text and number that stands in a document under the name of a secret, at any depth and however short: that a
 * text is empty is information, too.
 */
export function secretPlaces(value: unknown): SecretPlace[] {
  const find = (part: unknown, path: Path, reach: Reach): SecretPlace[] => {
    if (isSecret(part, reach)) return [{ path, secret: part }];
    if (Array.isArray(part)) return part.flatMap((item, index) => find(item, [...path, index], reach));
    if (!isMapping(part)) return [];
    return Object.entries(part).flatMap(([name, item]) => find(item, [...path, name], reachOf(name, reach)));
  };
  return find(value, [], "none");
}

/** Those that are long enough to be cut out of any text, the longest first. */
export function secretsIn(value: unknown): string[] {
  return secretPlaces(value)
    .filter(
      ({ secret }) => `${secret}`.length >= (typeof secret === "string" ? SHORTEST_SECRET : UNMISTAKABLE),
    )
    .map(({ secret }) => `${secret}`)
    .sort((a, b) => b.length - a.length);
}

/** Whether text right under this name is secret. */
export const isSecretName = (name: string) => SECRET_NAME.test(name);

function reachOf(name: string, above: Reach): Reach {
  if (above === "all" || NAME_OF_SECRETS_ALONE.test(name)) return "all";
  return isSecretName(name) ? "values" : "none";
}

function isSecret(value: unknown, reach: Reach): value is string | number {
  return reach !== "none" && (typeof value === "string" || typeof value === "number");
}
