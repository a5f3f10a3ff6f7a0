import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, totalmem } from "node:os";
import { z } from "zod";

/** What results depend on. */
export const machine = z.object({
  cores: z.number(),
  processor: z.string(),
  memoryBytes: z.number(),
  system: z.string(),
  node: z.string(),
  pulumiSdk: z.string(),
  /** Missing where there is none on the PATH. */
  pulumiCli: z.string().optional(),
});
export type Machine = z.output<typeof machine>;

export function thisMachine(): Machine {
  const pulumiCli = cliVersion();
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryBytes: totalmem(),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    pulumiSdk: sdkVersion(),
    ...(pulumiCli !== undefined && { pulumiCli }),
  };
}

export function machineText({
  cores,
  processor,
  memoryBytes,
  system,
  node,
  pulumiSdk,
  pulumiCli,
}: Machine): string {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  const cli = pulumiCli === undefined ? "no Pulumi CLI" : `Pulumi CLI ${pulumiCli}`;
  return `${cores} cores (${processor}), ${memory}, ${system}, Node.js ${node.slice(1)}, ${cli}, @pulumi/pulumi ${pulumiSdk}`;
}

function cliVersion(): string | undefined {
  try {
    return execFileSync("pulumi", ["version"], { encoding: "utf8", stdio: "pipe" }).trim().replace(/^v/, "");
  } catch {
    return undefined;
  }
}

function sdkVersion(): string {
  const file = createRequire(__filename).resolve("@pulumi/pulumi/package.json");
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
