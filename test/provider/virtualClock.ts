import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Clock } from "../../provider/service/clock";

/** The turns of the event loop without an event after which every call in flight sleeps. gRPC needs fewer than ten. */
const QUIET_TURNS = 25;

/**
 * A clock for provider and service whose waits take no real time. Time stands still during work. It moves to the earliest end of
 * a wait once no request is in flight and the event loop has been quiet.
 */
export function virtualClock(): Clock {
  // The time starts early in a second, so that a create's `created_at` in whole seconds is certain.
  let time = Math.floor(Date.now() / 1000) * 1000 + 200;
  let waits: { until: number; end: () => void }[] = [];
  let isPassing = false;
  const requests = new RequestsUnderWay();

  async function passTime(): Promise<void> {
    if (isPassing) return;
    isPassing = true;
    while (waits.length > 0) {
      await becomeQuiet();
      time = Math.max(time, Math.min(...waits.map(({ until }) => until)));
      const [first] = waits
        .filter(({ until }) => until <= time)
        .sort((one, other) => one.until - other.until);
      waits = waits.filter((wait) => wait !== first);
      first?.end();
    }
    isPassing = false;
  }

  async function becomeQuiet(): Promise<void> {
    for (let turns = 0, before = ""; turns < QUIET_TURNS; turns++) {
      await setImmediate();
      const now = `${requests.events} ${waits.length}`;
      if (requests.count > 0 || now !== before) turns = 0;
      before = now;
    }
  }

  return {
    // No two times are equal, because a listing is fresh only if it began later than another event.
    now: () => (time += 0.001),
    sleep: (milliseconds) =>
      new Promise((end) => {
        waits.push({ until: time + milliseconds, end });
        void passTime();
      }),
    random: () => 0.5,
  };
}

/** A clock that jumps to the end of each wait. The time between waits is real. */
export function jumpingClock(): Clock {
  let ahead = 0;
  const now = () => performance.timeOrigin + performance.now() + ahead;
  return {
    now,
    sleep: async (milliseconds) => {
      const until = now() + milliseconds;
      // A request that was sent before the wait must arrive before its end.
      for (let turns = 0; turns < 20; turns++) await setImmediate();
      // A longer wait may have moved the clock already.
      ahead += Math.max(0, until - now());
    },
    random: Math.random,
  };
}

/** The HTTP requests of this process from their call to the end of their reply, as undici reports them. */
class RequestsUnderWay {
  private readonly open = new Set<unknown>();
  events = 0;

  constructor() {
    const began = (message: unknown) => this.note(() => this.open.add(Object(message).request));
    const ended = (message: unknown) => this.note(() => this.open.delete(Object(message).request));
    const listeners = { create: began, trailers: ended, error: ended };
    for (const [event, listener] of Object.entries(listeners)) {
      subscribe(`undici:request:${event}`, listener);
      onTestFinished(() => void unsubscribe(`undici:request:${event}`, listener));
    }
  }

  get count(): number {
    return this.open.size;
  }

  private note(change: () => unknown): void {
    change();
    this.events++;
  }
}
