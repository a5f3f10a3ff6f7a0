import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
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

/** Raw results, a line of JSON each, so that a run that is ended loses nothing of what it has measured. */
export class RawFile<T extends z.ZodType> {
  constructor(
    readonly file: string,
    private readonly line: T,
  ) {}

  /** Undefined where nothing has been measured. */
  read(): Read<z.output<T>> | undefined {
    if (!existsSync(this.file)) return undefined;
    const [first = "", ...rest] = readFileSync(this.file, "utf8").trimEnd().split("\n");
    return {
      ...head.parse(JSON.parse(first)),
      lines: rest.map((text) => this.line.parse(JSON.parse(text))),
    };
  }

  /** Begins the file, or takes it up. Throws where it was begun on another machine: times of two say nothing together. */
  begin(here: string): Read<z.output<T>> {
    const read = this.read();
    if (read && read.machine !== here)
      throw new Error(
        `${this.file} is of another machine or other versions: move it away, or choose another --out`,
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
