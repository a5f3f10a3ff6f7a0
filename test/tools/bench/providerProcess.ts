import { readdir, readFile } from "node:fs/promises";

/** The resources that the provider's process used. */
export interface Taken {
  /** The peak resident memory. */
  bytes: number;
  /** The processor time of user and system. */
  seconds: number;
}

/** Unit: milliseconds. The last interval before the process is killed can be missed, but the peak is earlier. */
const EVERY = 100;
/** The kernel's clock ticks in a second, on every Linux that supports Node.js. */
const TICKS = 100;
const HOST = /\/cmd\/dynamic-provider(\/index\.js)?$/;

/**
 * Watches the dynamic provider's process in Linux's /proc, because engines kill it with SIGKILL and it cannot report at its
 * end. The process is the one with Pulumi's script and with `marker` in its inherited environment. Measures nothing if there
 * is no /proc.
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

  /** Undefined after the process ended. */
  private async measure(pid: string): Promise<Taken | undefined> {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(await read(pid, "status")) ?? [];
    const stat = await read(pid, "stat");
    if (kilobytes === undefined || stat === "") return undefined;
    // The process's name, in parentheses, can contain spaces. User and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { bytes: Number(kilobytes) * 1024, seconds: (Number(fields[11]) + Number(fields[12])) / TICKS };
  }
}

const read = (pid: string, name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
