import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import { type ServiceCounts, serviceCounts } from "./cells";

const address = z.object({ baseUrl: z.string(), apiKey: z.string() });

/** The emulated service in a separate process. */
export class Service {
  private constructor(
    private readonly child: ChildProcess,
    readonly baseUrl: string,
    readonly apiKey: string,
  ) {}

  static async start(): Promise<Service> {
    const child = fork(join(__dirname, "serviceProcess.js"));
    const { baseUrl, apiKey } = address.parse(await messageOf(child));
    return new Service(child, baseUrl, apiKey);
  }

  /** The counts since the last call. */
  async counts(): Promise<ServiceCounts> {
    this.child.send("counts");
    return serviceCounts.parse(await messageOf(this.child));
  }

  async close(): Promise<void> {
    const exited = once(this.child, "exit");
    this.child.disconnect();
    await exited;
  }
}

/** The next message of a child process. Rejects if the process ends first. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const done = new AbortController();
  try {
    return await Promise.race([
      once(child, "message", { signal: done.signal }).then(([message]) => message),
      once(child, "exit", { signal: done.signal }).then(([code]) => {
        throw new Error(`a process of the benchmark ended with ${code}`);
      }),
    ]);
  } finally {
    done.abort();
  }
}
