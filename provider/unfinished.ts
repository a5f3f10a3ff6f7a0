import { EndpointsError } from "./api/apiErrors";
import type { JsonObject } from "./api/json";
import { plain, UserError } from "./api/userError";
import type { CloudEndpointInputs } from "./schema";
import { unfinishedOutputs } from "./state";

/** A create that reached the service, and whose reply told the id but not the rest. Pulumi keeps it as unfinished. */
export class UnfinishedCreate extends UserError {
  override readonly name = "UnfinishedCreate";
  readonly reasons: string[];
  constructor(
    readonly id: string,
    readonly properties: JsonObject,
    cause: Error,
  ) {
    const reason = `${id} was created, but its description could not be read (${plain(cause instanceof EndpointsError ? cause.summary : cause.message)}); run \`pulumi refresh\` or \`pulumi up\` again`;
    super(reason, { cause });
    this.reasons = [reason];
  }
}

/** What an error came to when the endpoint is there all the same. */
export function unfinished(
  id: string,
  inputs: CloudEndpointInputs,
  provider: unknown,
  account: string,
  error: unknown,
): UnfinishedCreate {
  const cause = error instanceof Error ? error : new Error(String(error));
  return new UnfinishedCreate(id, unfinishedOutputs(inputs, provider, account), cause);
}
