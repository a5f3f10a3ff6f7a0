import type { FieldChange } from "./report";

/*
 * Values as a person reads them, on a terminal and in a page. What somebody else wrote must not steer either of them, nor
 * hide a difference: everything that has no form of its own is written as an escape.
 */

/** Characters that cannot be seen, that move what is around them, or that are no characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Surrogate}]/gu;

/** How much of two long texts is shown before the place where they part. */
const BEFORE = 24;

/** A name, a URL, a message: as it is, on one line. */
export function visible(text: string, most = 300): string {
  return cut(escaped(text), most);
}

/** Both sides of a change as JSON; undefined for a side that has nothing. Of long ones the part where they differ. */
export function shownSides(
  { expected, live }: FieldChange,
  most: number,
): { expected: string | undefined; live: string | undefined } {
  const [a, b] = [expected, live].map((side) =>
    side === undefined ? undefined : escaped(JSON.stringify(side)),
  );
  if (a === undefined || b === undefined || (a.length <= most && b.length <= most))
    return { expected: a && cut(a, most), live: b && cut(b, most) };
  const from = Math.max(0, samePrefix(a, b) - BEFORE);
  const part = (text: string) => (from > 0 ? "…" : "") + cut(text.slice(from), most);
  return { expected: part(a), live: part(b) };
}

function escaped(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : text;
}

function samePrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
