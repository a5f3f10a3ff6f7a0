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

/* Messages of Pulumi's protocol. */

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
