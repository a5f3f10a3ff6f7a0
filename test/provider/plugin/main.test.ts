import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { GetSchemaRequest } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { expect, onTestFinished, test } from "vitest";
import { VERSION } from "../../../provider/api/version";
import { listening } from "../servers";
import { PluginClient } from "./pluginClient";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = join(root, "provider", "plugin");

/** Starts the plugin as Pulumi does. The first line of its output is its port. Rejects with its output if it ends before. */
async function started(command: string[], engine: string) {
  const [program = "", ...args] = command;
  const child = spawn(program, [...args, engine], { stdio: ["ignore", "pipe", "pipe"] });
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
  return { client: new PluginClient(`127.0.0.1:${port}`), child, exited };
}

async function startEngine() {
  const server = createServer((socket) => socket.on("error", () => {}));
  return { address: await listening(server), close: () => server.close() };
}

test.each([
  ["as an executable", [join(folder, "pulumi-resource-endpoints")]],
  [
    "through Pulumi's language host",
    [process.execPath, join(folder, "../../node_modules/@pulumi/pulumi/cmd/run-plugin"), folder],
  ],
])("the plugin starts %s, returns version and schema, and ends with its engine", async (_, command) => {
  const engine = await startEngine();
  const { client, child, exited } = await started(command, engine.address);
  try {
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
  } finally {
    client.close();
    child.kill("SIGKILL");
  }
});

test("the plugin works with its own copies of gRPC and protobuf, as after a global install", async () => {
  const programs = join(root, "test", ".programs");
  mkdirSync(programs, { recursive: true });
  const install = mkdtempSync(join(programs, "global-"));
  onTestFinished(() => rmSync(install, { recursive: true, force: true }));
  const own = ["@grpc/grpc-js", "google-protobuf"].map((name) => join("node_modules", name));
  for (const part of ["dist", "package.json", join("provider", "plugin"), ...own]) {
    cpSync(join(root, part), join(install, part), { recursive: true });
  }
  const engine = await startEngine();
  const command = [join(install, "provider", "plugin", "pulumi-resource-endpoints")];
  const { client, child } = await started(command, engine.address);
  try {
    // The reply is an empty message, as that of `delete` is.
    const error = await new Promise((resolve) => client.raw.cancel(new Empty(), resolve));
    expect(error).toBeNull();
  } finally {
    engine.close();
    client.close();
    child.kill("SIGKILL");
  }
}, 30_000);

test("the plugin starts without Pulumi's runtime, which only the component needs", () => {
  const load = (file: string) => `require(${JSON.stringify(join(root, "dist", file))});`;
  const loaded = (...files: string[]) => {
    const program = `${files.map(load).join("")} console.log(Object.keys(require.cache).join("\\n"))`;
    return execFileSync(process.execPath, ["--eval", program], { encoding: "utf8" }).split("\n");
  };
  const runtime = /@pulumi\/pulumi\/(index|runtime\/\w+)\.js$/;
  const atStart = loaded("provider/plugin/serve.js", "sdk/webhooks/otherLanguages.js");
  expect(atStart.filter((file) => runtime.test(file))).toEqual([]);
  expect(loaded("sdk/webhooks/construct.js").some((file) => runtime.test(file))).toBe(true);
});
