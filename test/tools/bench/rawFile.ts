import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { z } from "zod";

/** The first line of a file of raw results. */
const head = z.object({ machine: z.string(), began: z.string() });

export interface Read<T> {
  machine: string;
  /** The day of the first measurement, as in 2026-01-31. */
  began: string;
  lines: T[];
}

/** A file of raw results, each a line of JSON, so that an interrupted benchmark keeps its results. */
export class RawFile<T extends z.ZodType> {
  constructor(
    readonly file: string,
    private readonly line: T,
  ) {}

  /** Undefined if the file does not exist. */
  read(): Read<z.output<T>> | undefined {
    if (!existsSync(this.file)) return undefined;
    const [first = "", ...rest] = readFileSync(this.file, "utf8").trimEnd().split("\n");
    return {
      ...head.parse(JSON.parse(first)),
      lines: rest.map((text) => this.line.parse(JSON.parse(text))),
    };
  }

  /**
   * Creates the file, or reads it to continue.
   *
   * @throws Error if the file is of another machine, since the times would not be comparable.
   */
  begin(): Read<z.output<T>> {
    const here = thisMachine();
    const read = this.read();
    if (read && read.machine !== here)
      throw new Error(
        `${this.file} is of another machine or of other versions: move it, or choose another --out`,
      );
    if (read) return read;
    mkdirSync(dirname(this.file), { recursive: true });
    const began = new Date().toISOString().slice(0, 10);
    appendFileSync(this.file, `${JSON.stringify({ machine: here, began })}\n`);
    return { machine: here, began, lines: [] };
  }

  append(line: z.input<T>): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
}

/** The hardware and the versions that the results depend on. */
function thisMachine(): string {
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
