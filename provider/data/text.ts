/* Makes foreign text harmless. Texts of the service and its users end up in logs of pipelines and in generated code. */

/** Characters that are invisible, of private use, or that change how the text around them is shown. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Surrogate}]/gu;

/** The start of a command that a pipeline executes wherever a log contains it: `##[…]`, `##vso[…]`. */
export const PIPELINE_COMMAND = /(?<=#)#(?=\w*\[)/g;

const asEscape = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Foreign text with escapes for invisible characters and commands of a pipeline. */
export const escaped = (text: string): string =>
  text.replace(INVISIBLE, asEscape).replace(PIPELINE_COMMAND, asEscape);

/** Foreign text for a message: a single line of limited length, with escapes for invisible characters. */
export function oneLine(text: string, most = 2000): string {
  // Cut first, because the other steps take time linear in the text.
  const short = text.slice(0, most * 2).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
  const line = escaped(short.trim());
  return line.length > most ? `${line.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : line;
}

/** The most characters of a name that are compared: more than any known name has. */
const MAX_NAME_LENGTH = 60;

/**
 * The known name that the user probably meant: it has the same letters in another spelling, or differs in a few letters.
 * Undefined if no name is so close.
 *
 * @param known The names. An item that is a list has a name, followed by wrong names that people use for it.
 */
export function closestName(
  name: string,
  known: readonly (string | readonly string[])[],
): string | undefined {
  const letters = (text: string) => text.replace(/[^a-z0-9]/gi, "").toLowerCase();
  const wanted = letters(name.slice(0, MAX_NAME_LENGTH));
  const all = known.flatMap((one) => {
    const [candidate = "", ...also] = [one].flat();
    return [candidate, ...also].map((called) => ({ candidate, called: letters(called) }));
  });
  // Loaded only after a mistake.
  const { distance }: typeof import("fastest-levenshtein") = require("fastest-levenshtein");
  const most = Math.min(3, Math.floor(wanted.length / 3));
  const sorted = (text: string) => [...text].sort().join("");
  const near = all.flatMap(({ candidate, called }) => {
    const away = distance(wanted, called);
    // The distance counts two swapped letters as two mistakes, but people make them as one.
    const isNear = away <= most || (away === 2 && sorted(called) === sorted(wanted));
    return isNear ? [{ candidate, away }] : [];
  });
  return near.sort((a, b) => a.away - b.away)[0]?.candidate;
}

/**
 * The end of a sentence about an unknown name: a hint at the name that the user probably meant, or else other advice, if there
 * is any. See `closestName`.
 */
export function didYouMean(
  name: string,
  known: Parameters<typeof closestName>[1],
  otherwise: string = "",
): string {
  const near = closestName(name, known);
  const advice = near === undefined ? otherwise : `did you mean ${near}?`;
  return advice && `; ${advice}`;
}

/** The fewest characters of a secret. A shorter secret occurs in other text by chance, so it cannot be masked. */
export const MIN_SECRET_LENGTH = 4;

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
