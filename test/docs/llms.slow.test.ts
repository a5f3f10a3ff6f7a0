import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { SIGNATURE } from "../../provider/endpoint/secrets";
import { RunFailed, type RunResult, TestStack } from "../../sdk/testing";
import { programFolder } from "../folders";
import { root } from "../package/pack";
import { mistakes, programs, withPrelude } from "./llmsPage";

/* Runs the programs and the mistakes of the page for assistants. */

const [first = "", second = "", third = "", fourth = "", fifth = ""] = programs;

/** Creates the folder of the project `infra` with this program. */
function project(program: string, folder = programFolder()): string {
  const plugin = `plugins: { providers: [{ name: endpoints, path: ${join(root, "provider", "plugin")} }] }\n`;
  const settings = program.includes("new Provider(") ? plugin : "";
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "Pulumi.yaml"), `name: infra\nruntime: nodejs\n${settings}`);
  writeFileSync(join(folder, "package.json"), '{ "name": "infra", "main": "index.ts" }\n');
  writeFileSync(join(folder, "index.ts"), program);
  return folder;
}

async function start(program: string, secrets: Record<string, string> = {}) {
  const folder = project(program);
  const stack = await TestStack.create({ program: folder });
  onTestFinished(() => stack.close());
  for (const [name, secret] of Object.entries(secrets)) await stack.setConfig(`infra:${name}`, { secret });
  return { stack, change: (changed: string) => project(changed, folder) };
}

const failed = async (run: Promise<RunResult>): Promise<RunResult> => {
  const error: unknown = await run.catch((error: unknown) => error);
  if (error instanceof RunFailed) return error.result;
  throw new Error("the run succeeded", { cause: error });
};

/** The messages of a run that are no notes. */
const messagesOf = ({ diagnostics }: RunResult) =>
  diagnostics.filter(({ severity }) => severity !== "info").map(({ message }) => message);

const operations = ({ steps }: RunResult) => steps.map(({ op, name }) => `${op} ${name}`);

describe("of the page for assistants", () => {
  test("the first program creates an endpoint whose password is a secret", async () => {
    const { stack } = await start(first, { password: "a long password" });
    const up = await stack.up();
    expect(messagesOf(up)).toEqual([]);
    expect(up.outputs).toEqual({ url: "https://shop.example.com" });
    expect(up.steps).toMatchObject([{ op: "create", outputs: { trafficPolicy: "[secret]" } }]);
  });

  test("the second program verifies on the service and in the agent", async () => {
    const { stack } = await start(second, { githubSecret: "a long secret" });
    const up = await stack.up();
    expect(messagesOf(up)).toEqual([]);
    expect(up.outputs["agentConfig"]).toContain("https://hooks.internal");
    expect(stack.emulator.endpoints[0]?.traffic_policy).toMatch(/verify-webhook.*forward-internal/);
  });

  test("the third program finds the agent's endpoint, and the endpoint that it creates itself", async () => {
    const { stack } = await start(third);
    stack.emulator.seed({ type: "ephemeral", id: "ep_agent", url: "https://shop.internal" });
    stack.emulator.seed({ type: "cloud", url: "https://other.example.com", metadata: '{"team":"other"}' });
    const up = await stack.up();
    expect(messagesOf(up)).toEqual([]);
    expect(up.outputs["data"]).toHaveLength(2);
    expect(up.outputs["data"]).toContainEqual({ team: "other" });
    expect(up.steps[0]?.outputs).toMatchObject({ description: "in front of ep_agent" });
  });

  test("the fourth program adopts an endpoint, keeps it, and creates one in another account", async () => {
    const { stack } = await start(fourth);
    const { emulator } = stack;
    await stack.setConfig("infra:partnerKey", { secret: emulator.addKey({ account: "partner" }) });
    const { id } = emulator.seed({ type: "cloud", url: "https://shop.example.com", description: "old" });
    const { diagnostics } = await stack.preview();
    expect(diagnostics.map(({ message }) => message).join()).toContain(`adopts ${id} and changes `);
    const up = await stack.up();
    expect(messagesOf(up)).toEqual([]);
    expect(operations(up).sort()).toEqual(["create mirror", "create shop"]);
    expect(emulator.endpointsOf("partner")).toHaveLength(1);
    await stack.destroy();
    expect(emulator.endpointsOf("partner")).toEqual([]);
    expect(emulator.endpoints.map(({ id }) => id)).toEqual([id]);
  });

  test("the fifth program tests the first", async () => {
    const folder = programFolder();
    project(first, join(folder, "infra"));
    writeFileSync(join(folder, "infra.test.ts"), fifth);
    writeFileSync(join(folder, "vitest.config.mts"), "export default {};\n");
    const outer = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST|NODE_V8)/.test(name));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(root, "node_modules", "vitest", "vitest.mjs"), "run"],
      { cwd: folder, env: { ...Object.fromEntries(outer), NO_COLOR: "1" } },
    );
    expect(stdout).toMatch(/Tests {2}1 passed/);
  });

  const secret = "CANARY-77ab";
  const examples = mistakes.flatMap(({ wrong, ...rest }) => wrong.map((code) => ({ ...rest, code })));
  const of = (outcome: string) => examples.filter((example) => example.outcome.startsWith(outcome));
  const without = mistakes.filter(({ outcome }) => !/^(up|state)/.test(outcome));

  test.each(of("preview"))("the preview of mistake $row warns or fails as the page says", async (example) => {
    const { stack } = await start(withPrelude(example.code), { secret });
    const run = stack.preview();
    const { diagnostics } = await (example.outcome === "preview warns" ? run : failed(run));
    expect(diagnostics.map((one) => one.message).join("\n")).toContain(example.message);
  });

  test.each(of("up fails"))(
    "mistake $row, a rename, fails as the page says, and its correction changes nothing",
    async ({ code, message, right }) => {
      const before = `new CloudEndpoint("a", { url, trafficPolicy: policy });`;
      const { stack, change } = await start(withPrelude(before), { secret });
      await stack.up();
      change(withPrelude(code));
      const { command, diagnostics } = await failed(stack.up());
      expect(command).toBe("up");
      expect(diagnostics.map((one) => one.message).join("\n")).toContain(message);
      change(withPrelude(right));
      await stack.preview({ expectNoChanges: true });
    },
  );

  test.each(of("state"))(
    "the state has the secret of mistake $row in plain text, and that of its correction encrypted",
    async ({ code, right }) => {
      const withRule = (rule: string) =>
        withPrelude(
          `${rule} new CloudEndpoint("a", { url, trafficPolicy: { on_http_request: [rule, ...policy.on_http_request] } });`,
        );
      const { stack, change } = await start(withRule(code), { secret });
      const stored = async () => {
        await stack.up({ skipPreview: true });
        const { resources = [] } = (await stack.exportState()).deployment;
        return resources.find(({ urn }) => urn.endsWith("::a"))?.inputs?.["trafficPolicy"];
      };
      expect(await stored()).toHaveProperty("on_http_request[0].actions[0].config.secret", secret);
      change(withRule(right));
      expect(await stored()).toHaveProperty(SIGNATURE);
    },
  );

  test.each(without)("the preview of the correction of mistake $row has no message", async ({ right }) => {
    const { stack } = await start(withPrelude(right), { secret });
    if (right.includes("adopt")) stack.emulator.seed({ type: "cloud", url: "https://a.example.com" });
    expect(messagesOf(await stack.preview())).toEqual([]);
  });
});
