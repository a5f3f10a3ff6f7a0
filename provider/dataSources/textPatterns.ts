import { normalizeUrl } from "../data/index";

/* Patterns of texts, in which `*` matches any text. */

/** Whether a normalized URL fits a pattern, in any spelling. */
export function urlMatcher(pattern: string): (url: string) => boolean {
  const exact = literalText(pattern);
  const text = exact ?? pattern;
  const wanted = normalizeUrl(text) ?? withoutDefaultPort(text.toLowerCase().replace(/\/$/, ""));
  return exact === undefined ? textPattern(wanted) : (url) => url === wanted;
}

const withoutDefaultPort = (pattern: string): string =>
  pattern.replace(/^(http:.*):80$|^((?:https|tls):.*):443$/, "$1$2");

/** The only text that fits a pattern; undefined if several can. */
export function literalText(pattern: string): string | undefined {
  const [text, ...others] = textsBetweenStars(pattern);
  return others.length === 0 ? text : undefined;
}

/** The texts between the stars of a pattern. */
const textsBetweenStars = (pattern: string): string[] =>
  pattern.split(/(?<!\\)\*/).map((part) => part.replaceAll("\\*", "*"));

/** Whether a text fits a pattern, in which `*` matches any text, and `\*` only a star. */
export function textPattern(pattern: string): (text: string) => boolean {
  const [first = "", ...others] = textsBetweenStars(pattern);
  const last = others.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    // The earliest match of each part leaves the most text for the parts after it.
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at + last.length <= text.length;
  };
}
