/** An error whose message tells a person all there is to know, in one line, with the next step. */
export abstract class UserError extends Error {}
