import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { findPulumiCli } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";
import { localBackend, temporaryFolder } from "../folders";
import { pack, root } from "./pack";

test.skipIf(!(await findPulumiCli()))(
  "with the Pulumi CLI, the README's command for the template creates a project from the installed package, and its preview succeeds",
  async () => {
    const folder = temporaryFolder();
    const { tarball } = pack(folder);
    const project = join(folder, "shop");
    mkdirSync(project);
    const emulator = await emulatedService();
    // Without the settings that npm passes to its scripts.
    const outer = Object.entries(process.env).filter(([name]) => !/^(npm_|ENDPOINTS_)/i.test(name));
    const env = {
      ...Object.fromEntries(outer),
      ...localBackend(folder),
      npm_config_prefer_offline: "true",
      ENDPOINTS_BASE_URL: emulator.baseUrl,
      ENDPOINTS_API_KEY: emulator.apiKey,
    };
    const run = async (command: string, ...args: string[]) =>
      (await promisify(execFile)(command, args, { cwd: project, env, maxBuffer: 1 << 26 })).stdout;

    const [, made = ""] = /`pulumi (new [^`]*)`/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
    await run("npm", "install", "--no-audit", "--no-fund", tarball);
    await run("pulumi", ...made.split(" "), "--yes", "--stack", "dev");
    // What `--yes` answers to the questions: the public service, and no key, which stays in the environment.
    const { config } = parse(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8"));
    expect(config).toEqual({ "endpoints:baseUrl": "https://api.ngrok.com" });
    await run("pulumi", "config", "set", "endpoints:baseUrl", emulator.baseUrl, "--stack", "dev");
    expect(await run("pulumi", "preview", "--stack", "dev")).toMatch(/2 to create/);
    expect(emulator.requests).toEqual([]);
    await run("npx", "--no-install", "tsc", "-p", ".");
  },
);
