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
