/** The real timer: a test may have put a fake clock in its place. */
const { setTimeout } = globalThis;

/**
 * Waits until `find` returns a truthy value, and returns that value. Only the test's timeout ends the wait, because a machine can
 * be slow. Unlike vitest's `waitFor`, `waitUntil` and `poll`, this function does not move a fake clock.
 */
export async function until<T>(find: () => T | Promise<T>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
