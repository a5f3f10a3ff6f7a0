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
 * The service's clock, as the `Date` headers of its replies tell it. A header has whole seconds, and says when the reply
 * was made: some time between our sending and our receiving. Each reply narrows down how far the two clocks are apart.
 */
export class ServiceClock {
  private ahead: Moment | undefined;

  /** Takes the `Date` of a reply; the other times are by our own clock. */
  heard(date: string | undefined, sent: number, received: number): void {
    const second = Date.parse(date ?? "");
    if (Number.isNaN(second)) return;
    const told = { earliest: second - received, latest: second + 1000 - sent };
    const both = this.ahead && {
      earliest: Math.max(this.ahead.earliest, told.earliest),
      latest: Math.min(this.ahead.latest, told.latest),
    };
    // Where they contradict each other, one of the clocks was set, or two machines answer: the last one counts.
    this.ahead = both && both.earliest <= both.latest ? both : told;
  }

  /** A moment of our clock on the service's; undefined where no reply told the time. */
  at(moment: number): Moment | undefined {
    return this.ahead && { earliest: moment + this.ahead.earliest, latest: moment + this.ahead.latest };
  }

  /** How long to wait, at least so long, for the reply whose `Date` narrows the clock down the most. */
  tellingWait(least: number, now: number): number {
    const then = this.at(now + least);
    if (!then) return least;
    // A reply made in the middle of what is possible falls on one side of a full second or on the other.
    const middle = (then.earliest + then.latest) / 2;
    return least + Math.ceil(middle / 1000) * 1000 - middle;
  }
}
