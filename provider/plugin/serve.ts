import "../data/nodeVersion";
import { readFileSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { engineAddress, exitWithEngine, isEngineAlive } from "../pulumi/engineWatch";
import type { PolicyWarnings, Webhooks } from "./functions";
import { pluginProvider } from "./plugin";

/** Messages contain whole properties, which may exceed gRPC's default limit of four megabytes. */
const UNLIMITED = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** Serves the plugin on a free port. Prints the port first, as Pulumi's engine expects. */
export async function servePlugin(
  schemaFile: string,
  fromSdk: { webhooks: Webhooks; warnings: PolicyWarnings },
): Promise<void> {
  const address = engineAddress();
  const server = new grpc.Server(UNLIMITED);
  const provider = pluginProvider({
    ...fromSdk,
    schema: () => readFileSync(schemaFile, "utf8"),
    isEngineAlive: () => isEngineAlive(address),
    environment: process.env,
  });
  server.addService(ResourceProviderService, provider);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  process.stdout.write(`${port}\n`);
  exitWithEngine(address);
}
