import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import {
  mapProps,
  mapSigned,
  OUTPUT,
  REFERENCE,
  SECRET,
  SIGNATURE,
  UNKNOWN,
} from "../../../provider/pulumi/sentinels";
import { type Props, secret } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";

/*
 * Loads gRPC and protobuf from the dependencies of Pulumi's SDK, because the SDK refuses gRPC credentials and empty protobuf
 * messages of another copy.
 */
const ofPulumi = createRequire(createRequire(__filename).resolve("@pulumi/pulumi"));

const grpc: typeof import("@grpc/grpc-js") = ofPulumi("@grpc/grpc-js");
const empty: typeof import("google-protobuf/google/protobuf/empty_pb") = ofPulumi(
  "google-protobuf/google/protobuf/empty_pb",
);

/** The credentials for a client of Pulumi's protocol. */
export const insecureCredentials = (): ChannelCredentials => grpc.credentials.createInsecure();

/** A message without content. */
export const EmptyMessage = empty.Empty;
export type EmptyMessage = InstanceType<typeof EmptyMessage>;

/** gRPC options without limits, because messages contain complete states and can exceed the default of four megabytes. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** @throws Unsupported for assets and archives. */
function fromWire(value: unknown): unknown {
  return mapSigned(value, (signed) => {
    if (signed[SIGNATURE] === SECRET) return secret(fromWire(signed["value"] ?? null));
    if (signed[SIGNATURE] === OUTPUT) {
      const value = "value" in signed ? fromWire(signed["value"]) : UNKNOWN;
      return signed["secret"] === true ? secret(value) : value;
    }
    if (signed[SIGNATURE] === REFERENCE) return { packageVersion: "", ...signed };
    throw new Unsupported("assets and archives");
  });
}

/** Properties of a message. @throws Unsupported for assets and archives. */
export const fromStruct = (struct: Struct | undefined): Props =>
  mapProps(struct?.toJavaScript() ?? {}, (value) => fromWire(value));

export function toStruct(props: Props): Struct {
  return Struct.fromJavaScript(
    mapProps(props, (value) => value) as Parameters<typeof Struct.fromJavaScript>[0],
  );
}
