import * as grpc from "@grpc/grpc-js";
import { InputPropertiesError } from "@pulumi/pulumi/proto/errors_pb";
import { CheckFailure } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { UserError } from "../api/apiErrors";

/** Mistakes in the inputs of a component, each with its path. */
export class InvalidInputs extends UserError {
  constructor(readonly mistakes: readonly { path: string; reason: string }[]) {
    super(mistakes.length === 1 ? "an input is wrong" : `${mistakes.length} inputs are wrong`);
  }
}

/** A mistake in the inputs of a call. With a property's name, the engine prints the property's value too. */
export const checkFailure = (reason: string, property = ""): CheckFailure =>
  new CheckFailure().setReason(reason).setProperty(property);

/** An error for gRPC. The user reads its text: one line, without a stack. */
export function failure(error: unknown): Partial<grpc.StatusObject> {
  const details = error instanceof Error ? error.message : String(error);
  // With the code "unknown", the engine warns that the state may be corrupt. Our errors leave it intact.
  const code = error instanceof UserError ? grpc.status.FAILED_PRECONDITION : grpc.status.UNKNOWN;
  const detail = detailOf(error);
  return { code, details, ...(detail && { metadata: statusWith(detail, code, details) }) };
}

/** What the engine reads beside the text. */
function detailOf(error: unknown): Any | undefined {
  const detail = new Any();
  if (!(error instanceof InvalidInputs)) return undefined;
  const invalid = new InputPropertiesError();
  for (const { path, reason } of error.mistakes) {
    const mistake = new InputPropertiesError.PropertyError();
    // The engine prints the value at a path that it finds, secret or not. It finds none that begins so.
    mistake.setPropertyPath(`inputs.${path}`);
    mistake.setReason(reason);
    invalid.addErrors(mistake);
  }
  detail.pack(invalid.serializeBinary(), "pulumirpc.InputPropertiesError");
  return detail;
}

/** gRPC libraries look for the details in a whole status under this name. */
function statusWith(detail: Any, code: grpc.status, message: string): grpc.Metadata {
  const status = new Status();
  status.setCode(code);
  status.setMessage(message);
  status.addDetails(detail);
  const metadata = new grpc.Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return metadata;
}
