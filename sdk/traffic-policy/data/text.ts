/* The service's texts, and those that other people wrote into it, end up in logs of pipelines and in generated code. */

/** Characters that are invisible, that move the text around them, or that are unassigned. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Surrogate}]/gu;

/** The start of a command that a pipeline executes wherever a log contains it: `##[…]`, `##vso[…]`. */
export const PIPELINE_COMMAND = /(?<=#)#(?=\w*\[)/g;

const asEscape = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Foreign text with escapes for invisible characters and commands of a pipeline. */
export const escaped = (text: string): string =>
  text.replace(INVISIBLE, asEscape).replace(PIPELINE_COMMAND, asEscape);

/** Foreign text for a message: one line of well-formed characters, of limited length. */
export function oneLine(text: string, most = 2000): string {
  // Cut first, because the other steps take time linear in the text.
  const short = text.slice(0, most * 2).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
  const line = escaped(short.trim());
  return line.length > most ? `${line.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : line;
}

/** Longer than any known name. */
const MAX_NAME_LENGTH = 60;

/**
 * The known name that the user probably meant: one with the same letters in another spelling, or else one that differs in a
 * few letters. Undefined if there is none.
 *
 * @param known The names. A list gives a name, followed by other names for it.
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

/** In characters. A shorter secret occurs in other text, so that it cannot be masked. */
export const MIN_SECRET_LENGTH = 4;

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
