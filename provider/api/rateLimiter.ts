import type { Clock } from "./clock";

export interface Limits {
  /** How many requests may go out in any window of that length. */
  requests: number;
  /** In milliseconds. */
  window: number;
  /** How many requests may be under way. */
  atOnce: number;
}

/** What has been sent so far. Times in milliseconds. */
export interface Traffic {
  now: number;
  /** Sent, and not answered yet. */
  inFlight: number;
  /** When those of the last window ended, the earliest first. */
  ended: readonly number[];
  /** Until when a 429 asked all requests to wait; 0 without one. */
  heldUntil: number;
}

/** How long the next request has to wait: 0 for not at all, undefined until one of those in flight has ended. */
export function waitForTurn({ requests, window, atOnce }: Limits, traffic: Traffic): number | undefined {
  const { now, inFlight, ended, heldUntil } = traffic;

  // The service knows better than we do: others use the account too.
  if (heldUntil > now) return heldUntil - now;

  // There are no more connections, and what waits for one could no longer be stopped.
  if (inFlight >= atOnce) return undefined;

  // A request counts from when it ended, since the service may have counted it any time before.
  const recent = ended.filter((time) => time > now - window);
  if (inFlight + recent.length < requests) return 0;

  const [oldest] = recent;
  return oldest === undefined ? undefined : oldest + window - now;
}

/** A wait that is reported to the user, and why. */
export interface LongWait {
  milliseconds: number;
  /** How many requests wait. */
  waiting: number;
  /** Whether the service asked for it, with a 429; else it is our own budget. */
  asked: boolean;
}

/** Waits longer than this are reported. */
const LONG = 10_000;

/** Lets requests go one after the other, first come first served: reads and writes alike. */
export class RateLimiter {
  private readonly queue: (() => void)[] = [];
  private inFlight = 0;
  private ended: number[] = [];
  private heldUntil = 0;
  private draining = false;

  constructor(
    private readonly limits: Limits,
    private readonly clock: Clock,
    private readonly onLongWait: (wait: LongWait) => void,
  ) {}

  /** Resolves when a request may be sent. When it has ended, `end` has to be called. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.queue.push(resolve);
      void this.drain();
    });
  }

  /** A request has ended, well or not. */
  end(): void {
    this.inFlight -= 1;
    this.ended.push(this.clock.now());
    void this.drain();
  }

  /** Nothing goes out for so many milliseconds. A shorter hold does not end a longer one. */
  hold(milliseconds: number): void {
    this.heldUntil = Math.max(this.heldUntil, this.clock.now() + milliseconds);
  }

  private async drain(): Promise<void> {
    if (this.draining) return;
    this.draining = true;
    while (this.queue.length > 0) {
      const now = this.clock.now();
      this.ended = this.ended.filter((time) => time > now - this.limits.window);
      const { inFlight, ended, heldUntil } = this;
      const wait = waitForTurn(this.limits, { now, inFlight, ended, heldUntil });
      if (wait === undefined) break;
      if (wait > 0) {
        if (wait > LONG)
          this.onLongWait({ milliseconds: wait, waiting: this.queue.length, asked: heldUntil > now });
        await this.clock.sleep(wait);
        continue;
      }
      this.inFlight += 1;
      this.queue.shift()?.();
    }
    this.draining = false;
  }
}
