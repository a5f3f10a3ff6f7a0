import { readdir, readFile } from "node:fs/promises";

/** What the provider's process took. */
export interface Taken {
  /** Peak resident memory. */
  bytes: number;
  /** Processor time, of user and system. */
  seconds: number;
}

/** In milliseconds. What a process does in its last moment before it is killed can be missed; its peak lies earlier. */
const EVERY = 100;
/** In how many ticks the kernel counts a second, on every Linux that Node runs on. */
const TICKS = 100;
const HOST = /\/cmd\/dynamic-provider(\/index\.js)?$/;

/**
 * Watches the dynamic provider's process from outside, in Linux's /proc: engines end it with SIGKILL, so that it could
 * not tell at its end. It is found by its script and by the `marker` in its environment, which it inherits. Without
 * /proc nothing is measured.
 */
export class ProviderWatch {
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();
  private pid: string | undefined;
  private taken: Taken | undefined;

  constructor(private readonly marker: string) {
    this.timer = setInterval(() => {
      this.looking = this.look();
    }, EVERY);
  }

  async stop(): Promise<Taken | undefined> {
    clearInterval(this.timer);
    await this.looking;
    return this.taken;
  }

  private async look(): Promise<void> {
    this.pid ??= await this.find();
    const found = this.pid && (await this.measure(this.pid));
    if (found) this.taken = found;
  }

  private async find(): Promise<string | undefined> {
    const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
    for (const pid of pids) {
      const [program = "", script = ""] = (await read(pid, "cmdline")).split("\0");
      if (!/\bnode$/.test(program) || !HOST.test(script)) continue;
      if ((await read(pid, "environ")).split("\0").includes(this.marker)) return pid;
    }
    return undefined;
  }

  /** Undefined once the process is gone. */
  private async measure(pid: string): Promise<Taken | undefined> {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(await read(pid, "status")) ?? [];
    const stat = await read(pid, "stat");
    if (kilobytes === undefined || stat === "") return undefined;
    // The process's name, in parentheses, can hold spaces; user and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { bytes: Number(kilobytes) * 1024, seconds: (Number(fields[11]) + Number(fields[12])) / TICKS };
  }
}

const read = (pid: string, name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
