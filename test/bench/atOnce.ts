/** Does the work for all items, as many at once. */
export async function atOnce<T>(
  parallel: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
