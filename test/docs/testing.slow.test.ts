import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { programFolder } from "../folders";
import { readmeProgram } from "../package/installs";
import { root } from "../package/pack";

/* Runs the examples of the page on testing. */

const page = readFileSync(join(root, "docs", "testing.md"), "utf8");

/** The code block of the page that contains this text. */
function example(containing: string): string {
  const blocks = [...page.matchAll(/^```(?:ts|js)\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  const found = blocks.filter((code) => code.includes(containing));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

function folderWith(files: Record<string, string>): string {
  const folder = programFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

async function run(cwd: string, ...args: string[]): Promise<string> {
  // Without the variables of the test runner around it.
  const outer = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST|NODE_V8|NODE_TEST)/.test(name),
  );
  const env = { ...Object.fromEntries(outer), NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env });
  return stdout;
}

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const program = example("export const shop = new CloudEndpoint");

test("the first example runs with vitest", async () => {
  const folder = folderWith({
    "infra/Pulumi.yaml": "name: infra\nruntime: nodejs\n",
    "infra/package.json": '{ "name": "infra", "main": "index.ts" }\n',
    "infra/index.ts": readmeProgram(),
    "first.test.ts": example("drift is repaired"),
    "vitest.config.mts": "export default {};\n",
  });
  expect(await run(folder, vitest, "run")).toMatch(/Tests {2}1 passed/);
});

test("the example of other packages and other stacks runs with vitest", async () => {
  const folder = folderWith({
    "infra/Pulumi.yaml": "name: infra\nruntime: nodejs\n",
    "infra/package.json": '{ "name": "infra", "main": "index.ts" }\n',
    "infra/index.ts": `
      import * as pulumi from "@pulumi/pulumi";
      import { CloudEndpoint } from "pulumi-endpoints";
      class Bucket extends pulumi.CustomResource {
        declare readonly arn: pulumi.Output<string>;
        constructor(name: string) {
          super("aws:s3/bucket:Bucket", name, { arn: undefined }, { version: "7.1.0" });
        }
      }
      const region = pulumi.runtime.invoke("aws:index/getRegion:getRegion", {}, { version: "7.1.0" });
      const domain = new pulumi.StackReference("organization/network/dev").requireOutput("domain");
      const shop = new CloudEndpoint("shop", { url: pulumi.interpolate\`https://shop.\${domain}\` });
      export const url = shop.url;
      export const logs = pulumi.interpolate\`\${new Bucket("logs").arn} in \${region.then(({ name }) => name)}\`;`,
    "infra.test.ts": example("stackReferences: {"),
    "vitest.config.mts": "export default {};\n",
  });
  expect(await run(folder, vitest, "run")).toMatch(/Tests {2}1 passed/);
});

test("the example of mocks runs with vitest", async () => {
  const folder = folderWith({
    "shop.ts": program,
    "shop.test.ts": example('from "vitest";\n\nconst mocks'),
    // The test takes milliseconds, but a busy machine may need seconds to load Pulumi.
    "vitest.config.mts": "export default { test: { testTimeout: 120_000 } };\n",
  });
  expect(await run(folder, vitest, "run")).toMatch(/Tests {2}1 passed/);
});
