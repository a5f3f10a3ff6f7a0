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
