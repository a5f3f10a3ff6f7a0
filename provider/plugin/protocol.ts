import { createRequire } from "node:module";
import type { ChannelCredentials } from "@grpc/grpc-js";

/*
 * What has to come from the copies of gRPC and protobuf that Pulumi's SDK has. Its clients refuse the credentials of another
 * copy of gRPC, and its services an empty answer of another copy of protobuf. Most often there is one copy of each; where the
 * package and the SDK are installed globally, npm gives each its own.
 */
const pulumi = createRequire(createRequire(__filename).resolve("@pulumi/pulumi"));

const grpc: typeof import("@grpc/grpc-js") = pulumi("@grpc/grpc-js");
const empty: typeof import("google-protobuf/google/protobuf/empty_pb") = pulumi(
  "google-protobuf/google/protobuf/empty_pb",
);

/** What a client of Pulumi's protocol connects with. */
export const insecure = (): ChannelCredentials => grpc.credentials.createInsecure();

/** The answer that says nothing. */
export const Empty = empty.Empty;
export type Empty = InstanceType<typeof Empty>;
