import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";

/**
 * What a client of Pulumi's protocol connects with. The clients are Pulumi's, and refuse credentials that another copy of gRPC
 * made; npm installs two where the package and Pulumi's SDK are installed globally. So this takes the copy that Pulumi's SDK has.
 */
export function insecure(): ChannelCredentials {
  const pulumi = createRequire(createRequire(__filename).resolve("@pulumi/pulumi"));
  const grpc: typeof import("@grpc/grpc-js") = pulumi("@grpc/grpc-js");
  return grpc.credentials.createInsecure();
}
