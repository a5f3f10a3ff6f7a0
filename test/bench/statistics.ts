/** What several runs of one thing came to. */
export interface Summary {
  median: number;
  least: number;
  most: number;
  runs: number;
}

/** Undefined where nothing was measured. */
export function summaryOf(values: readonly number[]): Summary | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [least] = sorted;
  const most = sorted.at(-1);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.ceil((sorted.length - 1) / 2)];
  if (least === undefined || most === undefined || low === undefined || high === undefined) return undefined;
  return { median: (low + high) / 2, least, most, runs: sorted.length };
}
