import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";

/*
 * Taken from the copies of gRPC and protobuf that Pulumi's SDK uses. Its clients refuse the credentials of another copy of
 * gRPC, and its services an empty answer of another copy of protobuf. Where the package and the SDK are installed globally,
 * npm gives each its own copies.
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
