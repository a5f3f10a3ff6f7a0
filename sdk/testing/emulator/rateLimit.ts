import { ServiceError } from "./errors";

export interface RateLimit {
  /** Most requests within any window. At least 1. */
  requests: number;
  /** Length of the rolling window, in seconds. */
  windowSeconds: number;
  /** Send `Retry-After`, in whole seconds, with a refusal. Default: false; the public service documents none. */
  retryAfter?: boolean;
}

/** Arrivals within the last window. Times are milliseconds by the service's clock. */
export class RateWindow {
  private arrivals: number[] = [];

  /** Throws a `RangeError` for a limit that nothing could pass, or that never ends. */
  constructor(private readonly limit: RateLimit) {
    const { requests, windowSeconds } = limit;
    if (!(requests >= 1)) throw new RangeError(`rateLimit.requests must be at least 1, not ${requests}`);
    if (!(windowSeconds > 0)) {
      throw new RangeError(`rateLimit.windowSeconds must be more than 0, not ${windowSeconds}`);
    }
  }

  /** Counts a request, or throws where the window is full; a refused request does not count. */
  admit(arrival: number): void {
    const { requests, windowSeconds, retryAfter = false } = this.limit;
    const length = windowSeconds * 1000;
    const within = this.arrivals.filter((time) => arrival - time < length);
    // What scripts answered counts too and was never refused, so that there can be more than the limit.
    const blocking = within.at(-requests);
    if (blocking !== undefined) {
      const refusal = new ServiceError(226, `${requests}`, `${windowSeconds}`);
      if (retryAfter) refusal.headers["Retry-After"] = `${Math.ceil((blocking + length - arrival) / 1000)}`;
      throw refusal;
    }
    this.arrivals = within;
    this.count(arrival);
  }

  /** Counts a request that was answered without being admitted. */
  count(arrival: number): void {
    this.arrivals.push(arrival);
  }
}
