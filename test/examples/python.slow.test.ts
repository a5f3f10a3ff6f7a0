import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { CliStack, Emulator, findPulumiCli } from "../../sdk/testing";
import { examplesIn } from "../docs/schemaExamples";
import { copyOf } from "../e2e/example";
import { plainIn } from "../e2e/setup";
import { generateSdk } from "../provider/plugin/pulumi";
import { expectVerified, WEBHOOK_SECRET } from "./agents";
import { namesOfCloudEndpoint } from "./pythonProgram";

const run = promisify(execFile);

/** The folder of Pulumi's Python packages. Undefined if they or the CLI are not installed. */
async function findPulumiInPython(): Promise<string | undefined> {
  if (!(await findPulumiCli()) || !(await findPulumiCli(undefined, "python"))) return undefined;
  const script =
    "import os, parver, pulumi, semver, setuptools; print(os.path.dirname(os.path.dirname(pulumi.__file__)))";
  return run("python3", ["-c", script]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
const installed = await findPulumiInPython();
const mypy =
  installed !== undefined && (await run("python3", ["-m", "mypy", "--version"]).catch(() => undefined));

const reason =
  "with the Pulumi CLI, pulumi-language-python and a python3 with pulumi, parver and setuptools on the PATH";

describe.skipIf(!installed)(`${reason}, the Python example`, () => {
  test("creates an endpoint for each customer, updates them, repairs drift, and deletes them", async () => {
    const emulator = await Emulator.start();
    emulator.seed({ type: "ephemeral", url: "https://acme.internal" });
    const folder = copyOf("python");
    await install(folder);
    const stack = await CliStack.create({
      program: folder,
      env: { ENDPOINTS_BASE_URL: emulator.baseUrl, ENDPOINTS_API_KEY: emulator.apiKey },
      config: { stripeSecret: { secret: WEBHOOK_SECRET } },
    });
    onTestFinished(async () => {
      await stack.close();
      await emulator.close();
    });
    const cloud = () => emulator.endpoints.filter(({ type }) => type === "cloud");
    const doors = () => cloud().filter(({ metadata }) => metadata !== undefined);
    const up = await stack.up();
    expect(up.outputs).toEqual({
      urls: ["https://acme.example.com", "https://globex.example.com", "https://payments.example.com"],
      "not connected": ["globex"],
      agentConfig: expect.stringContaining("CANARY"),
    });
    await expectVerified("stripe", up.outputs["agentConfig"]);
    expect(up.text + plainIn(await stack.exportState())).not.toContain("CANARY");
    for (const { metadata, traffic_policy, url } of doors()) {
      const { customer } = JSON.parse(metadata ?? "");
      expect(url).toBe(`https://${customer}.example.com`);
      expect(JSON.parse(traffic_policy ?? "").on_http_request[0].actions[1].config).toEqual({
        url: `https://${customer}.internal`,
      });
    }

    await stack.setConfig("customers", '["acme", "initech"]');
    const { steps } = await stack.up({ skipPreview: true });
    const changed = steps.filter(({ op }) => op !== "same");
    expect(changed.map(({ op, name }) => [op, name])).toEqual([
      ["create", "initech"],
      ["delete", "globex"],
    ]);
    expect(
      doors()
        .map(({ url }) => url)
        .sort(),
    ).toEqual(["https://acme.example.com", "https://initech.example.com"]);
    emulator.edit(doors().find(({ url }) => url === "https://acme.example.com")?.id ?? "", {
      metadata: '{"customer":"hooli"}',
    });
    const drift = [{ name: "acme", diff: ["~metadata"] }];
    expect((await stack.refresh()).steps.filter(({ diff }) => diff.length > 0)).toMatchObject(drift);
    const repair = await stack.up({ skipPreview: true });
    expect(repair.steps.filter(({ op }) => op !== "same")).toMatchObject(drift);
    expect(emulator.requests.at(-1)).toMatchObject({
      method: "PATCH",
      body: { metadata: '{"customer":"acme"}' },
    });
    await stack.destroy();
    expect(cloud()).toEqual([]);
  });

  test("the generated SDK has the Python names that pythonProgram.ts derives from the schema", async () => {
    const sdk = await generateSdk("python");
    const text = readFileSync(join(sdk, "pulumi_endpoints", "cloud_endpoint.py"), "utf8");
    const { inputs, outputs } = namesOfCloudEndpoint();
    for (const name of inputs) expect(text).toMatch(new RegExp(`:param .* ${name}: \\S`));
    for (const name of outputs) expect(text).toContain(`def ${name}(self)`);
  });
});

describe.skipIf(!mypy)(`${reason}, and mypy, programs`, () => {
  test("pass the strict check of types: the schema's examples, and the Python example", async () => {
    const folder = copyOf("python");
    await install(folder);
    for (const { name, code } of examplesIn("python")) writeFileSync(join(folder, `${name}.py`), code);
    const python = ["--python-executable", join(folder, "venv", "bin", "python")];
    const files = readdirSync(folder).filter((file) => file.endsWith(".py"));
    const { stdout } = await run("python3", ["-m", "mypy", "--strict", ...python, ...files], {
      cwd: folder,
    }).catch((failed: { stdout: string }) => failed);
    expect(stdout).toContain(`no issues found in ${files.length} source files`);
  });
});

/** Does the work of `pulumi install`, but with the installed packages instead of ones from the network. */
async function install(folder: string): Promise<void> {
  const sdk = await generateSdk("python");
  // The SDK reads its version from the metadata of an installed package.
  await run("python3", ["-c", "import setuptools; setuptools.setup()", "egg_info"], { cwd: sdk });
  await run("python3", ["-m", "venv", "--without-pip", "venv"], { cwd: folder });
  const lib = join(folder, "venv", "lib");
  const [python = ""] = readdirSync(lib);
  writeFileSync(join(lib, python, "site-packages", "endpoints.pth"), `${sdk}\n${installed}\n`);
}
