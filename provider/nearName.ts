/** Longer than any known name. */
const LONGEST_NAME = 60;

/**
 * The known name that the user probably meant: one with the same letters in another spelling, or else one that differs in a
 * few letters. Undefined if there is none.
 *
 * @param known The names. A list gives a name, followed by other names for it.
 */
export function nearName(name: string, known: readonly (string | readonly string[])[]): string | undefined {
  const letters = (text: string) => text.replace(/[^a-z0-9]/gi, "").toLowerCase();
  const wanted = letters(name.slice(0, LONGEST_NAME));
  const all = known.flatMap((one) => {
    const [candidate = "", ...also] = [one].flat();
    return [candidate, ...also].map((called) => ({ candidate, called: letters(called) }));
  });
  const exact = all.find(({ called }) => called === wanted);
  if (exact) return exact.candidate;
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
