import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { Unsupported } from "../errors";
import {
  mapProps,
  OUTPUT,
  type Props,
  REFERENCE,
  rebuilt,
  SECRET,
  SIGNATURE,
  secret,
  UNKNOWN,
} from "../properties";

/*
 * gRPC and protobuf in the copies of Pulumi's SDK. Its clients refuse the credentials of another copy of gRPC, and its services
 * refuse empty answers of another copy of protobuf.
 */
const ofPulumi = createRequire(createRequire(__filename).resolve("@pulumi/pulumi"));

const grpc: typeof import("@grpc/grpc-js") = ofPulumi("@grpc/grpc-js");
const empty: typeof import("google-protobuf/google/protobuf/empty_pb") = ofPulumi(
  "google-protobuf/google/protobuf/empty_pb",
);

/** The credentials for a client of Pulumi's protocol. */
export const insecure = (): ChannelCredentials => grpc.credentials.createInsecure();

/** An answer without content. */
export const Empty = empty.Empty;
export type Empty = InstanceType<typeof Empty>;

/** Messages contain complete states, which can be larger than gRPC's default limit of four megabytes. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** @throws Unsupported for assets and archives. */
function fromWire(value: unknown): unknown {
  return rebuilt(value, (signed) => {
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
