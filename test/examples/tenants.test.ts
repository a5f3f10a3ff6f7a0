import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { TestStack } from "../../sdk/testing";
import { copyOf } from "../e2e/example";
import { compileCopy } from "./tenantsCopy";

test("the program of a tenant creates a front door for each of its hosts", async () => {
  const folder = copyOf("tenants");
  const program =
    'import { programOf } from "./tenant";\nexport = programOf({ name: "acme", hosts: ["a.example.com"] });\n';
  writeFileSync(join(folder, "index.ts"), program);
  const stack = await TestStack.create({ program: folder, driver: "kit" });
  onTestFinished(() => stack.close());
  const { outputs } = await stack.up({ skipPreview: true });
  expect(outputs).toEqual({ urls: ["https://a.example.com"] });
  const [endpoint] = stack.emulator.endpoints;
  expect(JSON.parse(endpoint?.metadata ?? "")).toEqual({ tenant: "acme" });
  expect(JSON.parse(endpoint?.traffic_policy ?? "")).toEqual({
    on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://acme.internal" } }] }],
  });
});

test("a tenant that fails is a row of the table, like every other one, and the exit code is 1", async () => {
  const folder = await compileCopy();
  // Without a CLI, every tenant fails.
  const env = { ...process.env, PATH: "" };
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["bin/index.js", ...args], { cwd: folder, env });
  const failed = await run("up", "--at-once", "2").catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/acme .* 'failed'[\s\S]*globex .* 'failed'[\s\S]*initech .* 'failed'/),
    stderr: expect.stringMatching(
      /initech: Command failed with ENOENT: pulumi version\nspawn pulumi ENOENT\n/,
    ),
  });
  await expect(run("remove")).rejects.toMatchObject({ code: 1, stderr: "name the tenants to remove\n" });
  await expect(run("up", "hooli")).rejects.toThrow("there is no tenant hooli in tenants.json");
  await expect(run("up", "--at-once", "none")).rejects.toThrow("--at-once must be a positive number");
  await expect(run("deploy")).rejects.toThrow("give a command: up, preview, drift or remove");
});
