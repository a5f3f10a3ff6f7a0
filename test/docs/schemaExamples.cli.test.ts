import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { findPulumiCli, TestStack } from "../../sdk/testing";
import { programFolder } from "../folders";
import { root } from "../package/pack";
import { examplesIn } from "./schemaExamples";

const found = (await findPulumiCli()) && (await findPulumiCli(undefined, "yaml"));

test.skipIf(!found).each(examplesIn("yaml"))(
  "with the Pulumi CLI, the schema's example $name in YAML creates what it says, without a warning",
  async ({ name, code }) => {
    const program = programFolder();
    const plugin = JSON.stringify(join(root, "provider", "plugin"));
    writeFileSync(
      join(program, "Pulumi.yaml"),
      `name: ${name}\nruntime: yaml\npackages: { endpoints: ${plugin} }\n\n${code}`,
    );
    const stack = await TestStack.create({ program, driver: "cli" });
    onTestFinished(() => stack.close());
    const { emulator } = stack;
    for (const key of Object.keys(parse(code).config ?? {}))
      await stack.setConfig(key, { secret: emulator.apiKey });
    emulator.seed({ type: "ephemeral", url: "https://shop.internal" });
    const { text } = await stack.up();
    expect(text).not.toMatch(/warning/);
    const urls = [...code.matchAll(/^ {6}url: (\S+)$/gm)].map(([, url]) => url);
    const created = emulator.endpoints.filter(({ type }) => type === "cloud");
    expect(created.map(({ url }) => url)).toEqual(urls);
  },
);
