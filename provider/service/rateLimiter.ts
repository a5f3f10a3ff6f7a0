import type { Clock } from "./clock";

interface Limits {
  /** The most requests in any window. */
  requests: number;
  /** The length of the window, in milliseconds. */
  window: number;
  /** The most concurrent requests. */
  concurrent: number;
}

/** The requests so far. Times in milliseconds. */
interface Traffic {
  now: number;
  /** The number of requests without an answer yet. */
  inFlight: number;
  /** When the requests of the last window ended, the earliest first. */
  ended: readonly number[];
  /** Until when all requests wait because of a 429; 0 without one. */
  heldUntil: number;
}

/** How long the next request must wait. Undefined if it must wait until another one has ended. */
function waitForTurn({ requests, window, concurrent }: Limits, traffic: Traffic): number | undefined {
  const { now, inFlight, ended, heldUntil } = traffic;

  // The service counts the requests of others on the account too.
  if (heldUntil > now) return heldUntil - now;

  // Further requests would wait for a connection, and could not be stopped there.
  if (inFlight >= concurrent) return undefined;

  // A request counts from its end, because the service may have counted it at any time before.
  const recent = ended.filter((time) => time > now - window);
  if (inFlight + recent.length < requests) return 0;

  const [oldest] = recent;
  return oldest === undefined ? undefined : oldest + window - now;
}

/** Waits that are reported to the user, because their sum is long. */
export interface LongWait {
  milliseconds: number;
  /** Whether the service asked for the wait with a 429. Otherwise the wait keeps to the budget. */
  isByService: boolean;
}

/** Waits of the same reason are reported if their sum reaches this, in milliseconds. */
const REPORTED_WAIT = 10_000;

/** Lets requests start in the order in which they arrive. */
export class RateLimiter {
  private lastTurn = Promise.resolve();
  private inFlight = 0;
  private ended: number[] = [];
  private heldUntil = 0;
  private onRequestEnd = () => {};
  /** The sum of the waits, in milliseconds, by whether the service asked for them. */
  private readonly waits = new Map<boolean, number>();

  constructor(
    private readonly limits: Limits,
    private readonly clock: Clock,
    private readonly onLongWait: (wait: LongWait) => void,
  ) {}

  /** Resolves when a request may be sent. The caller must call `release` when it has ended. */
  acquire(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => this.nextTurn());
    return this.lastTurn;
  }

  /** Notes that a request has ended, with or without success. */
  release(): void {
    const now = this.clock.now();
    this.inFlight--;
    this.ended = [...this.ended.filter((time) => time > now - this.limits.window), now];
    this.onRequestEnd();
  }

  /** Stops all requests for so many milliseconds. A shorter hold does not end a longer one. */
  hold(milliseconds: number): void {
    this.heldUntil = Math.max(this.heldUntil, this.clock.now() + milliseconds);
  }

  private async nextTurn(): Promise<void> {
    for (;;) {
      const { inFlight, ended, heldUntil } = this;
      const now = this.clock.now();
      const milliseconds = waitForTurn(this.limits, { now, inFlight, ended, heldUntil });
      if (milliseconds === 0) break;
      if (milliseconds === undefined) await new Promise<void>((resolve) => (this.onRequestEnd = resolve));
      else {
        const isByService = heldUntil > now;
        const sum = (this.waits.get(isByService) ?? 0) + milliseconds;
        this.waits.set(isByService, sum);
        if (sum >= REPORTED_WAIT) this.onLongWait({ milliseconds: sum, isByService });
        await this.clock.sleep(milliseconds);
      }
    }
    this.inFlight++;
  }
}
