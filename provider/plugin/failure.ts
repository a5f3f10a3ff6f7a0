import * as grpc from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { UserError } from "../api/apiErrors";
import type { JsonObject } from "../api/json";
import type { PartialCreateError } from "../endpoint/errors";
import { toStruct } from "./values";

/** A partial create. The engine keeps the resource, with its id, and updates it next time. */
export class InitFailed extends UserError {
  override readonly name = "InitFailed";
  constructor(
    override readonly cause: PartialCreateError,
    readonly inputs: JsonObject,
    readonly secrets: ReadonlySet<string>,
  ) {
    super(cause.message);
  }
}

/** An error for gRPC. The user reads its text: one line, without a stack. */
export function failure(error: unknown): Partial<grpc.StatusObject> {
  const details = error instanceof Error ? error.message : String(error);
  // With the code "unknown", the engine warns that the state may be corrupt. Our errors leave it intact.
  const code = error instanceof UserError ? grpc.status.FAILED_PRECONDITION : grpc.status.UNKNOWN;
  return { code, details, ...(error instanceof InitFailed && { metadata: detailsOf(error, code) }) };
}

/** gRPC libraries look for the details in a whole status under this name. */
function detailsOf({ cause, inputs, secrets, message }: InitFailed, code: grpc.status): grpc.Metadata {
  const detail = new ErrorResourceInitFailed();
  detail.setId(cause.id);
  detail.setProperties(toStruct(cause.properties, secrets));
  detail.setInputs(toStruct(inputs, secrets));
  detail.setReasonsList(cause.reasons);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new Status();
  status.setCode(code);
  status.setMessage(message);
  status.addDetails(packed);
  const metadata = new grpc.Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return metadata;
}
