import * as grpc from "@grpc/grpc-js";
import { InputPropertiesError } from "@pulumi/pulumi/proto/errors_pb";
import { CheckFailure } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type JsonObject, oneLine } from "../data/index";
import { SECRET_FIELDS_KEY } from "../endpoint/secrets";
import { toEngine } from "../pulumi/values";
import { UserError } from "../service/apiErrors";
import { withoutKeys } from "../service/redaction";

/** Mistakes in the inputs of a component, each with its path. */
export class InvalidInputs extends UserError {
  constructor(readonly mistakes: readonly { path: string; reason: string }[]) {
    super(mistakes.length === 1 ? "an input is wrong" : `${mistakes.length} inputs are wrong`);
  }
}

/** @param known The tokens that would have been right. */
export const unknownToken = (token: string, known: string[]): UserError =>
  new UserError(`A provider of this package has no ${oneLine(token, 200)}; it has ${known.join(" and ")}.`);

/** A mistake in the inputs of a call. With a property's name, the engine prints the property's value too. */
export const checkFailure = (reason: string, property = ""): CheckFailure =>
  new CheckFailure().setReason(withoutKeys(reason)).setProperty(property);

/** Properties for the engine. The note of secret fields is left out, because the plugin receives and sends marks. */
export const asStruct = ({ [SECRET_FIELDS_KEY]: _, ...props }: JsonObject): Struct => toEngine(props);

/** An error for gRPC. The user reads its text: one line, without a stack. */
export function failure(error: unknown): Partial<grpc.StatusObject> {
  const details = withoutKeys(error instanceof Error ? error.message : String(error));
  // With the code "unknown", the engine warns that the state may be corrupt. Our errors leave it intact.
  const code = error instanceof UserError ? grpc.status.FAILED_PRECONDITION : grpc.status.UNKNOWN;
  if (!(error instanceof InvalidInputs)) return { code, details };

  const detail = new Any();
  detail.pack(mistakesOf(error).serializeBinary(), "pulumirpc.InputPropertiesError");
  const status = new Status().setCode(code).setMessage(details).setDetailsList([detail]);
  const metadata = new grpc.Metadata();
  // gRPC libraries look for the whole status under this name.
  metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return { code, details, metadata };
}

function mistakesOf({ mistakes }: InvalidInputs): InputPropertiesError {
  const errors = mistakes.map(({ path, reason }) =>
    // The engine prints the value at a path that it finds, secret or not. It finds none that begins so.
    new InputPropertiesError.PropertyError().setPropertyPath(`inputs.${path}`).setReason(reason),
  );
  return new InputPropertiesError().setErrorsList(errors);
}
