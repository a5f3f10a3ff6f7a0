/** The end of each error about an unsupported feature. */
export const USE_CLI_DRIVER = 'use the driver "cli", which runs the Pulumi CLI on the PATH';

/** The error for a feature that only the Pulumi CLI has. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(what: string) {
    super(`the test engine does not support ${what}: ${USE_CLI_DRIVER}`);
  }
}
