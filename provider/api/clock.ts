/** Time and chance, so that tests need not wait. */
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

/** A moment on the service's clock, as far as it is known: it lies between the two. In milliseconds since 1970. */
export interface Moment {
  earliest: number;
  latest: number;
}

/**
 * The service's clock, derived from the `Date` headers of its replies. A header has whole seconds, and names when the reply
 * was made: some time between our sending and our receiving. Each reply narrows down how far the two clocks are apart.
 */
export class ServiceClock {
  private ahead: Moment | undefined;

  /** Takes the `Date` of a reply; the other times are by our own clock. */
  observe(date: string | undefined, sent: number, received: number): void {
    const second = Date.parse(date ?? "");
    if (Number.isNaN(second)) return;
    const shown = { earliest: second - received, latest: second + 1000 - sent };
    const both = this.ahead && {
      earliest: Math.max(this.ahead.earliest, shown.earliest),
      latest: Math.min(this.ahead.latest, shown.latest),
    };
    // Where they contradict each other, one of the clocks was set, or two machines answer: the last one counts.
    this.ahead = both && both.earliest <= both.latest ? both : shown;
  }

  /** A moment of our clock on the service's; undefined where no reply had a date. */
  at(moment: number): Moment | undefined {
    return this.ahead && { earliest: moment + this.ahead.earliest, latest: moment + this.ahead.latest };
  }

  /** How long to wait, at least so long, for the reply whose `Date` narrows the clock down the most. */
  waitForNextSecond(least: number, now: number): number {
    const then = this.at(now + least);
    if (!then) return least;
    // A reply made in the middle of what is possible falls on one side of a full second or on the other.
    const middle = (then.earliest + then.latest) / 2;
    return least + Math.ceil(middle / 1000) * 1000 - middle;
  }
}

/** Ends waits before their time. */
export class Stop {
  private readonly waiting = new Set<() => void>();
  private isOn = false;

  /** From now on every wait is over at once, those under way too. */
  now(): void {
    this.isOn = true;
    for (const leave of this.waiting) leave();
  }

  /** Waits to the end, or throws the error where it is stopped. */
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
