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
