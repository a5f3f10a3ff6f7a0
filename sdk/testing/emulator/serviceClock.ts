import { ServiceError } from "./serviceErrors";

/** The service's clock, in milliseconds, and what is to happen later by it. */
export class Clock {
  private agenda: { at: number; happen: () => void }[] = [];
  private moment: number | undefined;

  constructor(private readonly outside: () => Date) {}

  /** What happens late happens at the time that was set for it, however much later `catchUp` is called. */
  now(): number {
    return this.moment ?? this.outside().getTime();
  }

  later(delayMs: number, happen: () => void): void {
    this.agenda.push({ at: this.now() + delayMs, happen });
  }

  /** Lets everything happen that is due, the earliest first. */
  catchUp(): void {
    if (this.moment !== undefined) return;
    const now = this.now();
    const due = this.agenda.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    this.agenda = this.agenda.filter(({ at }) => at > now);
    for (const { at, happen } of due) {
      this.moment = at;
      happen();
    }
    this.moment = undefined;
  }
}

export interface RateLimit {
  /** Most requests within any window. At least 1. */
  requests: number;
  /** Length of the rolling window, in seconds. */
  windowSeconds: number;
}

/** Arrivals within the last window. Times are milliseconds by the service's clock. */
export class RateWindow {
  private arrivals: number[] = [];

  /** Throws a `RangeError` for a limit that nothing could pass, or that never ends. */
  constructor(private readonly limit: RateLimit) {
    if (limit.requests >= 1 && limit.windowSeconds > 0) return;
    throw new RangeError(`rateLimit must have requests >= 1 and windowSeconds > 0: ${JSON.stringify(limit)}`);
  }

  /** Counts a request, or throws where the window is full; a refused request does not count. */
  admit(arrival: number): void {
    const { requests, windowSeconds } = this.limit;
    this.arrivals = this.arrivals.filter((time) => arrival - time < windowSeconds * 1000);
    if (this.arrivals.length >= requests) throw new ServiceError(226, requests, windowSeconds);
    this.count(arrival);
  }

  /** Counts a request that was answered without being admitted. */
  count(arrival: number): void {
    this.arrivals.push(arrival);
  }
}
