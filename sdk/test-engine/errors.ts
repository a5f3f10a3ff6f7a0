/** The end of each error about an unsupported feature. */
export const CLI_DRIVER = 'use the driver "cli", which runs the Pulumi CLI on the PATH';

export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(what: string) {
    super(`the test engine does not support ${what}: ${CLI_DRIVER}`);
  }
}

export const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
