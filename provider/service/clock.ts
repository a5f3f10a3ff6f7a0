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

/**
 * The time of an operation's own attempts and waits, in milliseconds. It does not include waits for the rate limit, and for other
 * requests of the run.
 */
export class TimeBudget {
  private spent = 0;

  constructor(
    private readonly clock: Clock,
    /** After this time nothing is sent again. */
    readonly limit: number,
  ) {}

  get elapsed(): number {
    return this.spent;
  }

  get isSpent(): boolean {
    return this.spent >= this.limit;
  }

  add(milliseconds: number): void {
    this.spent += milliseconds;
  }

  async wait(milliseconds: number): Promise<void> {
    await this.clock.sleep(milliseconds);
    this.add(milliseconds);
  }
}

/** The longest exchange whose `Date` is used, in milliseconds. The service's clock may be off by half of this time. */
const MAX_EXCHANGE = 2_000;

/** The service's clock, as the `Date` of its last quick reply shows it, to about a second. */
export class ServiceClock {
  private ahead: number | undefined;

  /** Notes the `Date` of a reply. The other times are by this machine's clock. */
  observe(date: string | undefined, sent: number, received: number): void {
    if (received - sent > MAX_EXCHANGE) return;
    const second = Date.parse(date ?? "");
    // A date has whole seconds, and the reply was made between sending and receiving.
    if (!Number.isNaN(second)) this.ahead = second + 500 - (sent + received) / 2;
  }

  /** Converts a moment of this machine's clock to the service's. Undefined before the first reply with a date. */
  at(moment: number): number | undefined {
    return this.ahead === undefined ? undefined : moment + this.ahead;
  }
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/i;

/** When an endpoint was created, by the service's clock, in milliseconds; undefined if that is unknown. Without a zone, it is UTC. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const [whole, , zone] = typeof text === "string" ? (RFC3339.exec(text) ?? []) : [];
  const time = whole === undefined ? Number.NaN : Date.parse(zone ? whole : `${whole}Z`);
  return Number.isNaN(time) ? undefined : time;
}
