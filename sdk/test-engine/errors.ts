/** The end of each error about an unsupported feature. */
export const CLI_DRIVER = 'use the driver "cli", which runs the Pulumi CLI on the PATH';

export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(what: string) {
    super(`the test engine does not support ${what}: ${CLI_DRIVER}`);
  }
}

/** What is not supported if a provider says that it created or changed a resource, but that it does not work yet. */
export const NOT_READY = "resources that exist but are not ready";

export const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
