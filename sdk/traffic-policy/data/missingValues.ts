import { type Path, partsOf } from "./paths";

/*
 * What a missing value leaves in a text: `undefined` and `NaN` of JavaScript, `null` and `None` of other languages, `$DOMAIN` of a
 * shell. Such a text looks right in a preview, and `bob:undefined` is a password. No message quotes what is around the word.
 */

/** A text in which a value is missing. */
export interface MissingValue {
  path: Path;
  reason: string;
  /** Whether the text is a credential or a secret, which anybody could guess now. */
  isSecret: boolean;
}

/** The texts of a document in which a value is missing. Bodies and expressions may have such words. */
export function* missingValuesIn(document: unknown): Generator<MissingValue, void> {
  for (const [path, part] of partsOf(document)) {
    if (typeof part !== "string" || path.some((key) => FREE_TEXTS.test(`${key}`))) continue;
    const isSecret = path.some((key) => SECRETS.test(`${key}`)) || URL_PASSWORD.test(part);
    const word = wordIn(part, { isSecret, isAddress: path.some((key) => ADDRESSES.test(`${key}`)) });
    if (word !== undefined) yield { path, isSecret, reason: missingValue(word) };
  }
}

/** The first credential or secret of a policy in which a value is missing. */
export const missingSecret = (policy: unknown): MissingValue | undefined =>
  [...missingValuesIn(policy)].find(({ isSecret }) => isSecret);

/** What is wrong with a text in which a value is missing, as a sentence that follows its place. Undefined for any other text. */
export function missingValueIn(text: string, is: { isSecret?: boolean } = {}): string | undefined {
  const word = wordIn(text, is);
  return word === undefined ? undefined : missingValue(word);
}

const missingValue = (word: string) =>
  `has ${word} in it, as programs write for a value that is missing; check the values that the text is built from`;

const FREE_TEXTS = /^(body|expressions?|retry_condition|from|replacements)$/;
/** Narrower than what is masked as a secret, because a mistake here is an error. */
const SECRETS = /^credentials$|(secret|password|authorization|private[_-]?key|api[_-]?key)$/i;
const ADDRESSES = /^(allow|deny)$/;

/** Alone, at the end, or beside one of these characters. Prose has the words between spaces. */
const WORD = /(?<!\w)(undefined|NaN)(?:$|(?=[:/.@-]))|(?<=[:/.@-])(undefined|NaN)(?!\w)/;
/** Words that are also names, so that only a whole part counts. */
const LABEL = /:\/\/(?:[^/?#]*[.@:])?(null|None)(?=[.:/?#@]|$)/;
const URL_PASSWORD = /:\/\/[^/?#]*:(undefined|NaN|null|None)@/;
const CREDENTIAL = /^(null|None)(?=$|:)|:(null|None)$/;
const ADDRESS = /^(null|None)(?=$|\/\d)/;
/** A variable of a shell in a host. The names of policies' own interpolations are in lower case. */
const VARIABLE = /:\/\/[^/?#]*?(\$[A-Z][A-Z\d_]*(?!\w)|\$\{[A-Z][A-Z\d_]*\})/;

function wordIn(text: string, { isSecret = false, isAddress = false } = {}): string | undefined {
  const plain = text.replace(/\$\{(?![A-Z][A-Z\d_]*\})[^}]*\}/g, "");
  const patterns = [
    WORD,
    LABEL,
    VARIABLE,
    ...(isSecret ? [CREDENTIAL] : []),
    ...(isAddress ? [ADDRESS] : []),
  ];
  const found = patterns.map((pattern) => pattern.exec(plain)).find((match) => match !== null);
  return found?.slice(1).find((word) => word !== undefined);
}
