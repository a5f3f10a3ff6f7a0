import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";

/*
 * gRPC and protobuf in the copies of Pulumi's SDK. Its clients refuse the credentials of another copy of gRPC, and its services
 * refuse empty answers of another copy of protobuf. If the package and the SDK are installed globally, npm gives each its own
 * copies.
 */
const pulumi = createRequire(createRequire(__filename).resolve("@pulumi/pulumi"));

const grpc: typeof import("@grpc/grpc-js") = pulumi("@grpc/grpc-js");
const empty: typeof import("google-protobuf/google/protobuf/empty_pb") = pulumi(
  "google-protobuf/google/protobuf/empty_pb",
);

/** The credentials for a client of Pulumi's protocol. */
export const insecure = (): ChannelCredentials => grpc.credentials.createInsecure();

/** An answer without content. */
export const Empty = empty.Empty;
export type Empty = InstanceType<typeof Empty>;
