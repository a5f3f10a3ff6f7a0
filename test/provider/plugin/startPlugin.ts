import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaRequest } from "@pulumi/pulumi/proto/provider_pb";
import { expect, onTestFinished } from "vitest";
import { Empty, insecure } from "../../../provider/pulumi/grpc";
import { VERSION } from "../../../provider/service/version";
import { listening } from "../servers";
import { pluginClient } from "./pluginClient";

export const root = join(import.meta.dirname, "..", "..", "..");
export const folder = join(root, "provider", "plugin");

/**
 * Starts the plugin as Pulumi does, with an engine. The plugin's first line of output is its port. If the plugin ends before that
 * line, the promise is rejected with the output.
 */
export async function started(...command: string[]) {
  const [program = "", ...args] = command;
  const engine = createServer((socket) => socket.on("error", () => {}));
  const child = spawn(program, [...args, await listening(engine)], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stderr.on("data", (text) => {
    errors += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const port = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`the plugin ended with ${code}: ${errors}`)));
  });
  const client = pluginClient(new ResourceProviderClient(`127.0.0.1:${port}`, insecure()));
  onTestFinished(() => client.raw.close());
  return { client, engine, exited };
}

/** Expects that the plugin starts with this command, returns its version and its schema, and ends with its engine. */
export async function expectLife(...command: string[]): Promise<void> {
  const { client, engine, exited } = await started(...command);
  const version = await new Promise((resolve) =>
    client.raw.getPluginInfo(new Empty(), (_, info) => resolve(info?.getVersion())),
  );
  // A build from a checkout adds its commit.
  expect(version).toMatch(/^\d+\.\d+\.\d+(\+dev(\.[\da-f]+(-dirty)?)?)?$/);
  const schema = await new Promise<string>((resolve) =>
    client.raw.getSchema(new GetSchemaRequest(), (_, answer) => resolve(answer.getSchema())),
  );
  expect(JSON.parse(schema)).toMatchObject({ name: "endpoints", version: VERSION.replace("+dev", "") });
  engine.close();
  expect(await exited).toBe(1);
}
