/** Longer than any name that is known. */
const LONGEST_NAME = 60;

/**
 * The known name that was probably meant: the same letters in another spelling, else one a few letters away; undefined where
 * none is near.
 *
 * @param known The names; one that has other names stands in a list with those after it.
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
  // Loaded where something is wrong already.
  const { distance }: typeof import("fastest-levenshtein") = require("fastest-levenshtein");
  const most = Math.min(3, Math.floor(wanted.length / 3));
  const sorted = (text: string) => [...text].sort().join("");
  const near = all.flatMap(({ candidate, called }) => {
    const away = distance(wanted, called);
    // Letters that changed places are two mistakes to the distance, and one to people.
    const isNear = away <= most || (away === 2 && sorted(called) === sorted(wanted));
    return isNear ? [{ candidate, away }] : [];
  });
  return near.sort((a, b) => a.away - b.away)[0]?.candidate;
}
