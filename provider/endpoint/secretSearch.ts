import { MIN_SECRET_LENGTH, type Path, partsOf } from "../data/index";

/*
 * The search for secrets in documents: values under a secret's name, and the passwords of URLs.
 */

/** Names of secret values in policies: `client_secret`, `password`, `x-api-key`. The names of a token's claims are public. */
const SECRET_NAME =
  /^(?!token_claims$).*(secret|password|token|credential|private[_-]?key|api[_-]?key|authorization)/is;

/** Names below which every value is secret: `credentials: {bob: …}`, `api_keys: [{value: …}]`. */
const PURE_SECRET_NAME = /^(secret|password|credential|private[_-]?key|api[_-]?key)s?$/i;

/** The password in a URL, also one with `@` in it. Takes time linear in the text. */
const URL_PASSWORD = /:\/\/[^\s/?#"<>\\:@]*:([^\s/?#"<>\\]+)@/g;

/** The text in place of a secret. */
export const MASKED = "[secret]";

export { MIN_SECRET_LENGTH };

/** The least length of a text that is recognized as the same secret in another place. Shorter ones may be ordinary words. */
export const MIN_RECOGNIZABLE_LENGTH = 8;

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
 * any length, and also if the secret is empty. A text in place of a document is secret as a whole if it names a secret.
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
  return isSecretName(names.at(-1) ?? "") || names.some((name) => PURE_SECRET_NAME.test(name));
}

/** The secrets that are long enough to be masked in other texts, the longest first. */
export function secretsIn(value: unknown): string[] {
  return findSecrets(value)
    .filter(
      ({ secret }) =>
        `${secret}`.length >= (typeof secret === "string" ? MIN_SECRET_LENGTH : MIN_RECOGNIZABLE_LENGTH),
    )
    .map(({ secret }) => `${secret}`)
    .sort((a, b) => b.length - a.length);
}

/** Whether text directly under this name is secret. */
export const isSecretName = (name: string) => SECRET_NAME.test(name);
