/** An error whose message the user can act on: one line, with the next step. */
export class UserError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Invalid arguments of a command. */
export class UsageError extends UserError {}
