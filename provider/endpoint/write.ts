import type { ReplyError } from "../service/apiErrors";
import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Inputs, ManagedInput, PreviewInputs } from "./fields";
import type { Owners } from "./owners";

/** What a create or an update needs. A check has a context too, in which inputs may be unknown. */
export interface WriteContext<T extends PreviewInputs = Inputs> {
  api: EndpointsApi;
  inputs: T;
  /** The URL for messages. */
  displayUrl: string;
  /** The stack's name, for messages; undefined if it is not known. */
  stack: string | undefined;
  owners: Owners;
  log: Log;
  /** The id of the endpoint that an update changes; undefined for a create. */
  updatedId?: string;
}

/** A create, an update, a move or an adoption that the service has accepted. */
export interface AcceptedWrite {
  id: string;
  /** The endpoint as the service answered; an error if the answer to an update cannot be read. */
  reply: Endpoint | ReplyError;
  sent: readonly ManagedInput[];
  /** The inputs that were sent. */
  wanted: PreviewInputs;
}
