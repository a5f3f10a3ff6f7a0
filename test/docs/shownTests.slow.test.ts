import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { programFolder } from "../folders";
import { readmeProgram } from "../package/installs";
import { root } from "../package/pack";
import { programs } from "./llmsPage";
import { blocksOf } from "./pages";

/* Runs the tests that pages show, in one run of vitest. */

/** The code block of the page that contains this text. */
function example(page: string, containing: string): string {
  const found = blocksOf(page).filter(({ code }) => code.includes(containing));
  expect(found, containing).toHaveLength(1);
  return found[0]?.code ?? "";
}

const OTHER_PACKAGES = `
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
export const logs = pulumi.interpolate\`\${new Bucket("logs").arn} in \${region.then(({ name }) => name)}\`;
`;

/** Each test, and the program in its folder `infra`. */
const shown = {
  first: [example("docs/testing.md", "drift is repaired"), readmeProgram()],
  others: [example("docs/testing.md", "stackReferences: {"), OTHER_PACKAGES],
  assistants: [programs[4] ?? "", programs[0] ?? ""],
};

test("the tests of the pages on testing and for assistants pass with vitest", async () => {
  const folder = programFolder();
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [name, [shownTest = "", program = ""]] of Object.entries(shown)) {
    write(`${name}/infra/Pulumi.yaml`, "name: infra\nruntime: nodejs\n");
    write(`${name}/infra/package.json`, '{ "name": "infra", "main": "index.ts" }\n');
    write(`${name}/infra/index.ts`, program);
    const ofFolder = shownTest.replace('program: "infra"', `program: "${name}/infra"`);
    // The pages' timeouts are for a machine that does nothing else.
    write(`${name}.test.ts`, ofFolder.replace(/timeout: \d+_000/, "timeout: 280_000"));
  }
  write("shop.ts", example("docs/testing.md", "export const shop = new CloudEndpoint"));
  write("mocks.test.ts", example("docs/testing.md", "const mocks = endpointMocks("));
  write("vitest.config.mts", "export default { test: { testTimeout: 280_000, maxWorkers: 2 } };\n");

  // Without the variables of the test runner around it.
  const outer = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST|NODE_V8|NODE_TEST)/.test(name),
  );
  const env = { ...Object.fromEntries(outer), NO_COLOR: "1" };
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run"], { cwd: folder, env });
  expect(stdout).toMatch(/Tests {2}4 passed/);
});
