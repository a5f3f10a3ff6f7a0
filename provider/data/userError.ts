/** An error whose message the user can act on: one line, with the next step. */
export class UserError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Invalid arguments of a command. */
export class UsageError extends UserError {}

/** The message of an error, or of any other thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
