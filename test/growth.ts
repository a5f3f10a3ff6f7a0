import { expect } from "vitest";

/** An input of four times the size takes four times as long if the time is linear, and sixteen times if it is quadratic. */
const MOST = 10;

/** The shortest measurable time, in milliseconds. */
const MEASURABLE = 1;

/**
 * Expects that the work takes linear time. The check does not depend on the machine's speed.
 *
 * @param input Creates an input of a given size.
 * @param size Large enough that a quadratic part shows, and small enough that the work still ends.
 */
export async function expectLinear<T>(
  input: (size: number) => T,
  work: (input: T) => unknown,
  size: number,
): Promise<void> {
  await expectTimes(MOST, input(size), input(4 * size), work);
}

/**
 * Expects that the work takes less than `most` times as long for `other` as for `base`. It compares the shortest processor
 * times of several runs, because other processes hardly affect them.
 */
export async function expectTimes<T>(most: number, base: T, other: T, work: (input: T) => unknown) {
  let ratio = Number.POSITIVE_INFINITY;
  let [short, long] = [ratio, ratio];
  for (let round = 1; round <= 3 || (ratio >= most && round <= 16); round++) {
    short = Math.min(short, await timeOf(() => work(base)));
    long = Math.min(long, await timeOf(() => work(other)));
    ratio = long / Math.max(short, MEASURABLE);
  }
  expect(ratio, "the ratio of the times").toBeLessThan(most);
}

async function timeOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
