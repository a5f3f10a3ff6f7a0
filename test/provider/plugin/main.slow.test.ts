import { cpSync } from "node:fs";
import { join } from "node:path";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { expect, test } from "vitest";
import { programFolder } from "../../folders";
import { expectLife, folder, root, started } from "./startPlugin";

test("the plugin starts through Pulumi's language host, returns version and schema, and ends with its engine", () =>
  expectLife(process.execPath, join(root, "node_modules/@pulumi/pulumi/cmd/run-plugin"), folder));

test("the plugin works with its own copies of gRPC and protobuf, as after a global install", async () => {
  const install = programFolder();
  const own = ["@grpc/grpc-js", "google-protobuf"].map((name) => join("node_modules", name));
  for (const part of ["dist", "package.json", join("provider", "plugin"), ...own])
    cpSync(join(root, part), join(install, part), { recursive: true });
  const { client } = await started(join(install, "provider", "plugin", "pulumi-resource-endpoints"));
  // The reply is an empty message, like the reply to `delete`.
  const error = await new Promise((resolve) => client.raw.cancel(new Empty(), resolve));
  expect(error).toBeNull();
});
