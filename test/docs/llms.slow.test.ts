import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type RunResult, TestStack } from "../../sdk/testing";
import { failure } from "../e2e/setup";
import { programFolder } from "../folders";
import { root } from "../package/pack";
import { mistakes, programs, withPrelude } from "./llmsPage";

/*
 * Runs the programs and the mistakes of the page for assistants, as many as possible as modules of one program, with names and
 * URLs of their own. `examples.slow.test.ts` runs the last program, which is a test. Scenarios run the rename that fails.
 */

const secret = "CANARY-77ab";

/** A stack whose program exports these modules. */
async function start(modules: string[], secrets: Record<string, string> = { secret }) {
  const folder = programFolder();
  const plugin = `plugins: { providers: [{ name: endpoints, path: ${join(root, "provider", "plugin")} }] }\n`;
  const settings = modules.some((code) => code.includes("new Provider(")) ? plugin : "";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: infra\nruntime: nodejs\n${settings}`);
  writeFileSync(join(folder, "package.json"), '{ "name": "infra", "main": "index.ts" }\n');
  for (const [index, code] of modules.entries()) writeFileSync(join(folder, `module${index}.ts`), code);
  const exports = modules.map((_, index) => `export * as module${index} from "./module${index}";\n`);
  writeFileSync(join(folder, "index.ts"), exports.join(""));
  const stack = await TestStack.create({ program: folder });
  onTestFinished(() => stack.close());
  for (const [name, value] of Object.entries(secrets))
    await stack.setConfig(`infra:${name}`, { secret: value });
  return stack;
}

/** The warnings and errors of a run, except those of a busy machine. */
const messagesOf = ({ diagnostics }: RunResult) =>
  diagnostics
    .filter(({ severity, message }) => severity !== "info" && !/no answer for \d+ s/.test(message))
    .map(({ message }) => message);

test("the programs find existing endpoints, create, adopt, use a second account, and destroy only their own endpoints", async () => {
  const modules = programs.slice(0, 4).map((code, index) => code.replace(/\bshop\b/g, `shop${index}`));
  const stack = await start(modules, { password: "a long password", githubSecret: "a long secret" });
  const { emulator } = stack;
  await stack.setConfig("infra:partnerKey", { secret: emulator.addKey({ account: "partner" }) });
  emulator.seed({ type: "ephemeral", id: "ep_agent", url: "https://shop2.internal" });
  emulator.seed({ type: "cloud", id: "ep_other", url: "https://other.example.com", metadata: '{"a":1}' });
  emulator.seed({ type: "cloud", id: "ep_old", url: "https://shop3.example.com", description: "old" });
  const up = await stack.up();
  expect(messagesOf(up).join("\n")).toBe("");
  const said = up.diagnostics.map(({ message }) => message).join();
  expect(said).toContain("adopts ep_old and changes ");
  expect(up.outputs).toMatchObject({
    module0: { url: "https://shop0.example.com" },
    module1: { agentConfig: expect.stringContaining("https://hooks.internal") },
    module2: { data: expect.arrayContaining([{ a: 1 }]) },
  });
  const { traffic_policy } = emulator.endpoints.find(({ url }) => url === "https://hooks.example.com") ?? {};
  expect(traffic_policy).toMatch(/verify-webhook.*forward-internal/);
  expect(emulator.endpointsOf("partner")).toHaveLength(1);
  // The adopted endpoint is protected.
  await expect(stack.destroy()).rejects.toThrow(/shop3" cannot be deleted/);
  expect(emulator.endpointsOf("partner")).toEqual([]);
  expect(emulator.endpoints.map(({ id }) => id).sort()).toEqual(["ep_agent", "ep_old", "ep_other"]);
});

/** The examples as modules of one program. */
const together = (codes: string[]) =>
  codes.map((code, index) => withPrelude(code).replace(/(?<=["/])(a|hooks|backend)(?=["./])/g, `$1${index}`));

test("the preview of the corrected programs has no message", async () => {
  const rights = mistakes.flatMap(({ outcome, right }) => (/^(up|state)/.test(outcome) ? [] : [right]));
  const stack = await start(together(rights));
  for (const [index, right] of rights.entries()) {
    const [id] = /ep_\w+/.exec(right) ?? [];
    stack.emulator.seed({ type: "cloud", url: `https://a${index}.example.com`, ...(id && { id }) });
  }
  expect(messagesOf(await stack.preview())).toEqual([]);
});

const inPreview = mistakes
  .filter(({ outcome }) => outcome.startsWith("preview"))
  .flatMap(({ wrong, ...rest }) => wrong.map((code) => ({ ...rest, code })));
const looksUp = ({ code }: { code: string }) => code.includes("getEndpoint(");

test.each([
  ["look nothing up", inPreview.filter((one) => !looksUp(one))],
  // A failed look-up ends the program.
  ["look something up", inPreview.filter(looksUp)],
])("the preview of the mistakes that %s warns or fails as the page says", async (_, examples) => {
  const stack = await start(together(examples.map(({ code }) => code)));
  const { diagnostics } = await failure(stack.preview());
  expect(examples).not.toEqual([]);
  for (const { row, outcome, message } of examples) {
    const same = examples.filter((one) => one.message === message);
    const shown = diagnostics.filter((one) => one.message.includes(message));
    const severity = outcome === "preview warns" ? "warning" : "error";
    expect(
      shown.map((one) => one.severity),
      `row ${row}`,
    ).toEqual(same.map(() => severity));
  }
});
