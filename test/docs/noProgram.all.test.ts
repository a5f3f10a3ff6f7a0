import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { Emulator } from "../../sdk/testing/emulator";
import { programFolder, temporaryFolder } from "../folders";
import { root } from "../package/pack";

/* Runs the commands of the page on `pulumi do`, in their order. */

const cli = await findPulumiCli();

const page = readFileSync(join(root, "docs", "no-program.md"), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, text = ""]) => text,
  );

/** A command, and lines of its output. */
interface Command {
  command: string;
  shown: string[];
}

const commands: Command[] = blocks("console")
  .flatMap((block) => block.trimEnd().split(/^\$ /m).slice(1))
  .map((text) => {
    const [command = "", ...shown] = text.trimEnd().split("\n");
    return { command, shown };
  });

/** The page's name for the endpoint that the first command creates. */
const ID = "ep_2abc…";

/** Runs the commands in a shell. Returns each with its output. */
async function runPage(emulator: Emulator): Promise<(Command & { output: string })[]> {
  const folder = programFolder();
  const [project = ""] = blocks("yaml");
  const plugin = join(root, "provider", "plugin");
  writeFileSync(
    join(folder, "Pulumi.yaml"),
    project.replace("node_modules/pulumi-endpoints/provider/plugin", plugin),
  );
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${temporaryFolder()}`,
    PULUMI_HOME: temporaryFolder(),
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    NO_COLOR: "1",
    ENDPOINTS_BASE_URL: emulator.baseUrl,
    ENDPOINTS_API_KEY: emulator.apiKey,
  };
  const results: (Command & { output: string })[] = [];
  let id = ID;
  for (const { command, shown } of commands) {
    const run = command.replaceAll(ID, id);
    const output = await new Promise<string>((resolve, reject) =>
      execFile("sh", ["-c", run], { cwd: folder, env }, (error, stdout, stderr) =>
        error ? reject(new Error(`${run}: ${stdout}${stderr}`)) : resolve(stdout + stderr),
      ),
    );
    id = /"id": "(ep_\w+)"/.exec(output)?.[1] ?? id;
    results.push({ command, shown, output: output.replaceAll(id, ID) });
  }
  return results;
}

describe.skipIf(!cli)("with the Pulumi CLI", () => {
  test("the commands of the page on `pulumi do` work, and print what it shows", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const results = await runPage(emulator);
    expect(results.length).toBeGreaterThan(8);
    for (const { command, shown, output } of results)
      for (const line of shown) expect(output, command).toContain(line.replace(/,$/, ""));
    expect(emulator.requests.filter(({ method }) => method !== "GET").map(({ method }) => method)).toEqual([
      ...["POST", "PATCH", "DELETE"],
      ...["POST", "PATCH", "DELETE"],
    ]);
    expect(emulator.endpoints).toEqual([]);
  });
});
