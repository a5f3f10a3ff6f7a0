import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { TestStack, type TestStackOptions } from "../../sdk/testing";
import { copyOf } from "./example";
import { errors, failure, methods, onBothDrivers } from "./setup";

const stackFile = z.object({ config: z.record(z.string(), z.unknown()) });

onBothDrivers("the example environments", (_, driver) => {
  test("gives dev and prod the same program and fragments, each with its own settings", async () => {
    const dev = await start("dev", driver);
    const prod = await start("prod", driver, { emulator: dev.emulator });

    // Both are on one account, side by side.
    const up = await dev.up({ skipPreview: true });
    expect(up.outputs).toEqual({ urls: ["https://shop.dev.example.com", "https://api.dev.example.com"] });
    expect(methods(await prod.up({ skipPreview: true }))).toEqual(["POST", "POST"]);

    expect(policyOf(dev, "https://shop.dev.example.com")).toEqual([
      ["restrict-ips", { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] }],
      ["rate-limit", expect.objectContaining({ capacity: 600 })],
      ["forward-internal", { url: "https://shop.dev.internal" }],
    ]);
    expect(policyOf(dev, "https://shop.example.com")).toEqual([
      ["rate-limit", expect.objectContaining({ capacity: 120 })],
      ["forward-internal", { url: "https://shop.prod.internal" }],
    ]);

    // A change of one environment's setting is a change of its endpoints alone.
    await prod.setConfig("environments:maintenance", "true");
    const change = await prod.up({ skipPreview: true });
    expect(methods(change)).toEqual(["PATCH", "PATCH"]);
    expect(policyOf(dev, "https://api.example.com").at(-1)).toEqual([
      "custom-response",
      expect.objectContaining({ status_code: 503 }),
    ]);
    await dev.preview({ expectNoChanges: true });
  });

  test("refuses a stack that is no environment, before any request", async () => {
    const stack = await start("dev", driver, { stackName: "staging" });
    const result = await failure(stack.preview());
    expect(errors(result).join()).toContain("the stack staging is no environment: select dev or prod");
    expect(result.requests).toEqual([]);
  });
});

/** A stack with the settings that the environment's file has, as the CLI would read it. */
async function start(
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

/** What the live endpoint with this URL does with a request: each action and its configuration, in order. */
function policyOf(stack: TestStack, url: string): [string, unknown][] {
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
