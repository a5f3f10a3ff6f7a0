import { type Path, partsOf } from "./paths";

/*
 * Finds words that a missing value leaves in a text: `undefined` and `NaN` from JavaScript, `null` and `None` from other languages,
 * `$DOMAIN` from a shell. In secrets, it also finds placeholders. The service would accept the password in `bob:undefined`. No
 * message quotes the rest of the text.
 */

/** A text in which a value is missing. */
interface MissingValue {
  path: Path;
  reason: string;
  /** Whether the text is a credential or a secret, which anybody could now guess. */
  isSecret: boolean;
}

/** The texts of a document in which a value is missing. Bodies and expressions are skipped, because they may contain such words. */
export function* missingValuesIn(document: unknown): Generator<MissingValue, void> {
  for (const [path, part] of partsOf(document)) {
    if (typeof part !== "string" || path.some((key) => FREE_TEXTS.test(`${key}`))) continue;
    const isSecret = path.some((key) => SECRETS.test(`${key}`)) || URL_PASSWORD.test(part);
    const isAddress = path.some((key) => ADDRESSES.test(`${key}`));
    const reason = missingValueIn(part, { isSecret, isAddress });
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

/** A word that is the whole text, at its end, or beside one of these characters. In prose, the words stand between spaces. */
const WORD = /(?<!\w)(undefined|NaN)(?:$|(?=[:/.@-]))|(?<=[:/.@-])(undefined|NaN)(?!\w)/;
/** Words that can be part of a name, so they count only as a whole label of a host. */
const LABEL = /:\/\/(?:[^/?#]*[.@:])?(null|None)(?=[.:/?#@]|$)/;
const URL_PASSWORD = /:\/\/[^/?#]*:(undefined|NaN|null|None)@/;
const CREDENTIAL = /^(null|None)(?=$|:)|:(null|None)$/;
const ADDRESS = /^(null|None)(?=$|\/\d)/;
/** A shell's variable in a host. The names in a policy's own `${…}` are in lower case. */
const VARIABLE = /:\/\/[^/?#]*?(\$[A-Z][A-Z\d_]*(?!\w)|\$\{[A-Z][A-Z\d_]*\})/;

/** Texts that templates and displays show in place of a secret. Pulumi shows `[secret]`. */
const PLACEHOLDER = /(?:^|:)(change[-_ ]?me|[*•]+|\[secret\]|\[object \w+\])$/i;
/** References that a shell, a template or a secret store should have filled in, and placeholders such as `<your secret>`. */
const UNFILLED =
  /(?:^|:)(\$[A-Z][A-Z\d_]*|\$\{[A-Z][A-Z\d_]*\}|\$\(.*\)|%[A-Z][A-Z\d_]*%|<[\w .-]+>|\{[\w .-]+\}|\{\{.*\}\}|(op|ref\+\w+):\/\/.*)$/;

/** What is wrong with a text in which a value is missing, as a sentence that follows its place. Undefined for any other text. */
export function missingValueIn(
  text: string,
  { isSecret = false, isAddress = false } = {},
): string | undefined {
  const plain = text.replace(/\$\{(?![A-Z][A-Z\d_]*\})[^}]*\}/g, "");
  if (isSecret && (PLACEHOLDER.test(plain) || UNFILLED.test(plain)))
    return "is a placeholder, which anybody can guess; give the secret itself";
  const patterns = [
    WORD,
    LABEL,
    VARIABLE,
    ...(isSecret ? [CREDENTIAL] : []),
    ...(isAddress ? [ADDRESS] : []),
  ];
  const found = patterns.map((pattern) => pattern.exec(plain)).find((match) => match !== null);
  const word = found?.slice(1).find((word) => word !== undefined);
  return word === undefined
    ? undefined
    : `has ${word} in it, as programs write for a value that is missing; check the values that the text is built from`;
}
