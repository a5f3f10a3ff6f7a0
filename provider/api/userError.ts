/** An error whose message tells a person all there is to know, in one line, with the next step. */
export abstract class UserError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Somebody else's text in a message: one line of well-formed characters, no longer than can be read. */
export function plain(text: string, most = 2000): string {
  // Cut first, since the rest takes as long as the text is.
  const line = text
    .slice(0, most * 2)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .trim();
  return line.length > most ? `${line.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : line;
}
