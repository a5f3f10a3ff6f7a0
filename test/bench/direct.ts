import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Contestant, Operation } from "./cells";
import { messageOf, type Service } from "./service";

/** As many calls at once as Pulumi's engine makes by default: four times the cores. */
export const PARALLEL = 4 * availableParallelism();

/** What the process is to do; the state is in the file, as one operation left it for the next. */
export const directTask = z.object({
  contestant: z.string(),
  operation: z.string(),
  size: z.number(),
  stateFile: z.string(),
  baseUrl: z.string(),
  apiKey: z.string(),
  parallel: z.number(),
});

const answer = z.object({ seconds: z.number() });

/**
 * A contestant without an engine: its methods are called as an engine calls them, as many at once, and nothing else is
 * done. Each operation has a process of its own, as each command has. Its start is not measured.
 */
export class DirectRuns {
  private readonly folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-bench-"));

  constructor(
    private readonly contestant: Contestant,
    private readonly size: number,
    private readonly service: Service,
  ) {}

  /** How long the operation took, in seconds. */
  async run(operation: Operation): Promise<number> {
    const { contestant, size, service } = this;
    const { baseUrl, apiKey } = service;
    const env = { ...process.env, ENDPOINTS_BASE_URL: baseUrl, ENDPOINTS_API_KEY: apiKey };
    const child = fork(join(__dirname, "directProcess.js"), { env });
    const stateFile = join(this.folder, "state.json");
    child.send({ contestant, operation, size, stateFile, baseUrl, apiKey, parallel: PARALLEL });
    try {
      return answer.parse(await messageOf(child)).seconds;
    } finally {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
