import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { TestStack, type TestStackOptions } from "../../sdk/testing";
import { programFolder } from "../folders";
import { startApplication } from "../kit/runner/application";

const ROOT = join(import.meta.dirname, "../..");

/** Files that a run of an example leaves in its folder. */
const LEFTOVERS = ["node_modules", "sdks", "venv", "__pycache__"];

/** Copies an example, because the CLI writes its settings beside the program. This repository is installed in the copy. */
export function copyOf(example: string): string {
  const folder = programFolder();
  cpSync(join(ROOT, "examples", example), folder, {
    recursive: true,
    filter: (file) => !LEFTOVERS.includes(basename(file)),
  });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules", "pulumi-endpoints"));
  return folder;
}

const stackFile = z.object({ config: z.record(z.string(), z.unknown()) });

/** Starts a stack with the settings of the environment's file. */
export async function startEnvironment(
  environment: string,
  driver: TestStack["driver"],
  options: Partial<TestStackOptions> = {},
): Promise<TestStack> {
  const program = copyOf("environments");
  const file = (name: string) => join(program, `Pulumi.${name}.yaml`);
  const { config } = stackFile.parse(parse(readFileSync(file(environment), "utf8")));
  rmSync(file(environment)); // The driver writes its own.
  const stack = await TestStack.create({
    program,
    driver,
    stackName: environment,
    config: Object.fromEntries(Object.entries(config).map(([key, value]) => [key, settingText(value)])),
    ...options,
  });
  onTestFinished(() => stack.close());
  return stack;
}

const settingText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** The type and the configuration of each action in the policy of the live endpoint with this URL. */
export function policyOf(stack: TestStack, url: string): [string, unknown][] {
  const endpoint = stack.emulator.endpoints.find((one) => one.url === url);
  const policy = z
    .object({
      on_http_request: z.array(
        z.object({ actions: z.array(z.object({ type: z.string(), config: z.unknown() })) }),
      ),
    })
    .parse(JSON.parse(endpoint?.traffic_policy ?? "{}"));
  return policy.on_http_request.flatMap(({ actions }) =>
    actions.map(({ type, config }): [string, unknown] => [type, config]),
  );
}

export async function startWithApplication(example: string, driver: NonNullable<TestStackOptions["driver"]>) {
  const stack = await TestStack.create({ program: copyOf(example), driver });
  onTestFinished(() => stack.close());
  const application = await startApplication();
  await stack.setConfig(`${example}:port`, `${application.port}`);
  return { stack, application };
}

export const FIRST = "b2xkLXNlY3JldC1vbGQtc2VjcmV0";
export const SECOND = "bmV3LXNlY3JldC1uZXctc2VjcmV0";

/** Starts a stack of the example brex, and a server for Brex's API. */
export async function startBrexStack(driver: TestStack["driver"]) {
  const { stack, application } = await startWithApplication("brex", driver);
  const brex = await startBrex();
  await stack.setConfig("brex:brexApi", brex.url);
  await stack.setConfig("brex:brexToken", { secret: "a token" });
  return { stack, application, brex };
}

/** Starts a server that lists webhook secrets like Brex's API. It accepts one token. */
export async function startBrex() {
  const brex = { url: "", secrets: [] as { secret: string; status: string }[] };
  const server = createServer((request, response) => {
    const known =
      request.headers.authorization === "Bearer a token" && request.url === "/v1/webhooks/secrets";
    response.writeHead(known ? 200 : 401).end(JSON.stringify(known ? brex.secrets : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  brex.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return brex;
}
