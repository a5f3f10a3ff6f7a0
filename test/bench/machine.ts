import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { z } from "zod";

/** What results depend on. */
export function thisMachine(): string {
  const file = require.resolve("@pulumi/pulumi/package.json");
  const sdk = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
  const [processor] = cpus();
  return [
    `${availableParallelism()} cores (${processor?.model.trim() ?? "unknown"})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${process.platform} ${process.arch}`,
    `Node.js ${process.version.slice(1)}`,
    cliVersion(),
    `@pulumi/pulumi ${sdk}`,
  ].join(", ");
}

function cliVersion(): string {
  try {
    const version = execFileSync("pulumi", ["version"], { encoding: "utf8", stdio: "pipe" });
    return `Pulumi CLI ${version.trim().replace(/^v/, "")}`;
  } catch {
    return "no Pulumi CLI";
  }
}
