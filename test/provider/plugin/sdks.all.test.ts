import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inputFields } from "../../../provider/endpoint/fields";
import { cli, generateSdk } from "./pulumi";

describe.skipIf(!cli)("the Node.js SDK that the Pulumi CLI generates", () => {
  test("compiles, documents every input, and has an example in its README", async () => {
    const sdk = await generateSdk("nodejs");
    const tsc = join(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [tsc, "--noEmit", "-p", sdk], { stdio: "pipe" });
    const resource = readFileSync(join(sdk, "cloudEndpoint.ts"), "utf8");
    const [, args = ""] = resource.split("export interface CloudEndpointArgs");
    for (const name of Object.keys(inputFields)) {
      expect(args).toMatch(new RegExp(`\\* \\S.*\\n +\\*/\\n +${name}\\??:`));
    }
    const readme = readFileSync(join(sdk, "README.md"), "utf8");
    expect(readme).toContain('import { CloudEndpoint } from "pulumi-endpoints";');
    expect(readme).toContain("`ENDPOINTS_API_KEY`");
  });
});
