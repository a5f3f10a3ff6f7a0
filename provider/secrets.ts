import { isMapping } from "./api/json";
import type { Path } from "./document";

/** Names of secret values in policies: `client_secret`, `password`, `x-api-key`. */
const SECRET_NAME = /secret|password|token|credential|private[_-]?key|api[_-]?key|authorization/i;

/** Names below which every value is secret: `credentials: {bob: …}`, `api_keys: [{value: …}]`. */
const NAME_OF_SECRETS_ALONE = /^(secret|password|credential|private[_-]?key|api[_-]?key)s?$/i;

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
}

/**
 * Which values a name makes secret: none, the texts and numbers directly under it and in lists there, or all below it. A name
 * with `token` in it may also be one of settings (`tokens: [{type: jwt, method: header}]`), so it does not reach into objects.
 */
type Reach = "none" | "values" | "all";

/**
 * Every text and number under a secret name in a document, at any depth and of any length. Even that a secret is empty is
 * information.
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

function isSecret(value: unknown, reach: Reach): value is string | number {
  return reach !== "none" && (typeof value === "string" || typeof value === "number");
}
