/** Time and randomness, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. Never goes back. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
};

/** A moment of the service's clock, between two bounds, in milliseconds since 1970. */
export interface Moment {
  earliest: number;
  latest: number;
}

/**
 * The service's clock, derived from the `Date` headers of its replies. A header has whole seconds, and the reply was made
 * between sending and receiving. Each reply narrows the offset between the two clocks.
 */
export class ServiceClock {
  private ahead: Moment | undefined;

  /** Adds the `Date` of a reply. The other times are by this machine's clock. */
  observe(date: string | undefined, sent: number, received: number): void {
    const second = Date.parse(date ?? "");
    if (Number.isNaN(second)) return;
    const shown = { earliest: second - received, latest: second + 1000 - sent };
    const both = this.ahead && {
      earliest: Math.max(this.ahead.earliest, shown.earliest),
      latest: Math.min(this.ahead.latest, shown.latest),
    };
    // A contradiction means that a clock was set, or that several machines answer. The last reply counts.
    this.ahead = both && both.earliest <= both.latest ? both : shown;
  }

  /** Converts a moment of this machine's clock to the service's. Undefined before the first reply with a date. */
  at(moment: number): Moment | undefined {
    return this.ahead && { earliest: moment + this.ahead.earliest, latest: moment + this.ahead.latest };
  }

  /** How long to wait, at least `least`, so that the next reply's `Date` narrows the offset the most. */
  waitForNextSecond(least: number, now: number): number {
    const then = this.at(now + least);
    if (!then) return least;
    // A full second in the middle of the uncertainty halves it: the reply is made before it or after it.
    const middle = (then.earliest + then.latest) / 2;
    return least + Math.ceil(middle / 1000) * 1000 - middle;
  }
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** When an endpoint was created, by the service's clock, in milliseconds; undefined if that is unknown. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const time = typeof text === "string" && RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Ends waits early. */
export class Stop {
  private readonly waiting = new Set<() => void>();
  private isOn = false;

  /** Ends all current and future waits. */
  now(): void {
    this.isOn = true;
    for (const leave of this.waiting) leave();
  }

  /** Waits for the work, or throws the error if stopped. */
  async unless(wait: Promise<void>, error: () => Error): Promise<void> {
    if (this.isOn) throw error();
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(error());
    });
    this.waiting.add(leave);
    await Promise.race([wait, left]).finally(() => this.waiting.delete(leave));
  }
}
