import { cpus } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

/** So much of the processors has to be idle for so long, and is waited for so long at most. In milliseconds. */
const IDLE = 0.9;
const FOR = 1000;
const AT_MOST = 600_000;

/** Waits until nobody else uses the machine; goes on when that does not happen. Gives whether it did. */
export async function quiet(): Promise<boolean> {
  const until = Date.now() + AT_MOST;
  while (Date.now() < until) {
    const before = times();
    await wait(FOR);
    const after = times();
    if ((after.idle - before.idle) / (after.all - before.all) >= IDLE) return true;
  }
  return false;
}

function times(): { idle: number; all: number } {
  const each = cpus().map((cpu) => cpu.times);
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  return { idle: sum(each.map(({ idle }) => idle)), all: sum(each.flatMap((one) => Object.values(one))) };
}
