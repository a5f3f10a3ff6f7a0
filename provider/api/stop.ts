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
  async unless<T>(wait: Promise<T>, error: () => Error): Promise<T> {
    if (this.isOn) throw error();
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(error());
    });
    this.waiting.add(leave);
    return Promise.race([wait, left]).finally(() => this.waiting.delete(leave));
  }
}
