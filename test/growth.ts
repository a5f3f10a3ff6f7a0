import { expect } from "vitest";

/** Four times as much takes four times as long where the time is linear, and sixteen times where it is quadratic. */
const MOST = 10;

/** In milliseconds. Less is not measured, but guessed. */
const MEASURABLE = 1;

/**
 * Expects that the time of something grows with its input, and not with the input's square: a claim that holds on a slow
 * machine too.
 *
 * @param input Makes an input of this size. Large enough that a quadratic part would show, small enough that it ends.
 */
export async function expectLinear<T>(
  input: (size: number) => T,
  work: (input: T) => unknown,
  size: number,
): Promise<void> {
  await expectTimes(MOST, input(size), input(4 * size), work);
}

/**
 * Expects that something takes less than so many times as long with one input as with another. The processor's time
 * counts, which other processes hardly change, and of each the shortest run; where that is not enough, there are more.
 */
export async function expectTimes<T>(most: number, base: T, other: T, work: (input: T) => unknown) {
  let ratio = Number.POSITIVE_INFINITY;
  let [short, long] = [ratio, ratio];
  for (let round = 1; round <= 3 || (ratio >= most && round <= 16); round++) {
    short = Math.min(short, await timeOf(() => work(base)));
    long = Math.min(long, await timeOf(() => work(other)));
    ratio = long / Math.max(short, MEASURABLE);
  }
  expect(ratio, "how many times as long it takes").toBeLessThan(most);
}

async function timeOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
