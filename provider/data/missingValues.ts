import { type Path, partsOf } from "./paths";

/*
 * Finds words that a missing value leaves in a text: `undefined` and `NaN` from JavaScript, `null` and `None` from other languages,
 * `$DOMAIN` from a shell, and what an object leaves in it. In secrets, it also finds placeholders. The service would accept the
 * password in `bob:undefined`. No message quotes the rest of the text.
 */

/** A text in which a value is missing. */
interface MissingValue {
  path: Path;
  reason: string;
  /** Whether the text is a credential or a secret, which anybody could now guess. */
  isSecret: boolean;
}

/** The texts of a document in which a value is missing. Bodies and expressions may contain such words, but hardly an object's. */
export function* missingValuesIn(document: unknown): Generator<MissingValue, void> {
  for (const [path, part] of partsOf(document)) {
    if (typeof part !== "string") continue;
    const isUnder = (names: RegExp) => path.some((key) => names.test(`${key}`));
    const isFree = isUnder(FREE_TEXTS);
    const isSecret = !isFree && !isUnder(LOGGED) && (isUnder(SECRETS) || URL_PASSWORD.test(part));
    const reason = missingValueIn(part, { isFree, isSecret, isAddress: isUnder(ADDRESSES) });
    if (reason !== undefined) yield { path, isSecret, reason };
  }
}

/** The first credential or secret of a policy in which a value is missing. */
export const missingSecret = (policy: unknown): MissingValue | undefined =>
  [...missingValuesIn(policy)].find(({ isSecret }) => isSecret);

const FREE_TEXTS = /^(body|content|expressions?|retry_condition|from|replacements)$/;
/** Keys of secrets. Fewer than those whose values are masked, because a wrong match would be an error for the user. */
const SECRETS = /^credentials$|(secret|password|authorization|private[_-]?key|api[_-]?key)$/i;
const ADDRESSES = /^(allow|deny)$/;
/** What an action writes to the log, as `***` in place of a password. */
const LOGGED = /^metadata$/;

/** A word that is the whole text, at its end, or beside one of these characters. In prose, the words stand between spaces. */
const WORD = /(?<!\w)(undefined|NaN)(?:$|(?=[:/.@-]))|(?<=[:/.@-])(undefined|NaN)(?!\w)/;
/** Words that can be part of a name, so they count only as a whole label of a host. */
const LABEL = /:\/\/(?:[^/?#]*[.@:])?(null|None)(?=[.:/?#@]|$)/;
const URL_PASSWORD = /:\/\/[^/?#]*:(undefined|NaN|null|None)@/;
const CREDENTIAL = /^(null|None)(?=$|:)|:(null|None)$/;
const ADDRESS = /^(null|None)(?=$|\/\d)/;
/** A shell's variable in a host. The names in a policy's own `${…}` are in lower case. */
const VARIABLE = /:\/\/[^/?#]*?(\$[A-Z][A-Z\d_]*(?!\w)|\$\{[A-Z][A-Z\d_]*\})/;

/** What JavaScript and Go write for an object, within a longer text: a page's script may compare with it. */
const OBJECT = /(\[object (?:Object|Promise)\]|\{0x[\da-f]{9,16}\})(?:(?=\s*\S)|(?<=\S\s*\1))/i;

/** Texts that templates and displays show in place of a secret. Pulumi shows `[secret]`. */
const PLACEHOLDER = /(?:^|:)(change[-_ ]?me|[*•]+|\[secret\]|\[object \w+\])$/i;
/** References that a shell, a template or a secret store should have filled in, and placeholders such as `<your secret>`. */
const UNFILLED =
  /(?:^|:)(\$[A-Z][A-Z\d_]*|\$\{[A-Z][A-Z\d_]*\}|\$\(.*\)|%[A-Z][A-Z\d_]*%|<[\w .-]+>|\{[\w .-]+\}|\{\{.*\}\}|(op|ref\+\w+):\/\/.*)$/;

/** What is wrong with a text in which a value is missing, as a sentence that follows its place. Undefined for any other text. */
export function missingValueIn(
  text: string,
  { isFree = false, isSecret = false, isAddress = false } = {},
): string | undefined {
  // In a long body with unclosed expressions, this search would take quadratic time.
  const plain = isFree ? text : text.replace(/\$\{(?![A-Z][A-Z\d_]*\})[^}]*\}/g, "");
  if (isSecret && (PLACEHOLDER.test(plain) || UNFILLED.test(plain)))
    return "is a placeholder, which anybody can guess; give the secret itself";
  const patterns = [
    OBJECT,
    ...(isFree ? [] : [WORD, LABEL, VARIABLE]),
    ...(isSecret ? [CREDENTIAL] : []),
    ...(isAddress ? [ADDRESS] : []),
  ];
  const found = patterns.map((pattern) => pattern.exec(plain)).find((match) => match !== null);
  const word = found?.slice(1).find((word) => word !== undefined);
  return word === undefined
    ? undefined
    : `has ${word} in it, as programs write for a value that is missing or is no text; check the values that the text is built from`;
}
