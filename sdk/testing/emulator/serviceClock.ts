import { ServiceError } from "./serviceErrors";

/** The clock of the emulated service, with the tasks that take effect later. */
export class EmulatedClock {
  private tasks: { at: number; run: () => void }[] = [];
  private taskTime: number | undefined;

  constructor(private readonly outside: () => Date) {}

  /** For a running task this is the time that it was scheduled for, even if `catchUp` runs it later. */
  now(): number {
    return this.taskTime ?? this.outside().getTime();
  }

  schedule(delayMs: number, run: () => void): void {
    this.tasks.push({ at: this.now() + delayMs, run });
  }

  /** Runs the tasks that are due. */
  catchUp(): void {
    if (this.taskTime !== undefined) return;
    const now = this.now();
    const due = this.tasks.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    this.tasks = this.tasks.filter(({ at }) => at > now);
    for (const { at, run } of due) {
      this.taskTime = at;
      run();
    }
    this.taskTime = undefined;
  }
}

/** A rate limit over a rolling window, by the emulator's clock. */
export interface RateLimit {
  /** The maximum number of requests within any window. At least 1. */
  requests: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
}

/** The arrivals within the last window, in milliseconds by the service's clock. */
export class RateWindow {
  private arrivals: number[] = [];

  /** @throws RangeError if the limit is out of range. */
  constructor(private readonly limit: RateLimit) {
    if (limit.requests >= 1 && limit.windowSeconds > 0) return;
    throw new RangeError(`rateLimit must have requests >= 1 and windowSeconds > 0: ${JSON.stringify(limit)}`);
  }

  /**
   * Counts a request.
   *
   * @throws ServiceError if the window is full. The request does not count then.
   */
  admit(arrival: number): void {
    const { requests, windowSeconds } = this.limit;
    this.arrivals = this.arrivals.filter((time) => arrival - time < windowSeconds * 1000);
    if (this.arrivals.length >= requests) throw new ServiceError(226, requests, windowSeconds);
    this.count(arrival);
  }

  count(arrival: number): void {
    this.arrivals.push(arrival);
  }
}
