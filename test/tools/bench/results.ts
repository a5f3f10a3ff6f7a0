import type { Cell, Contestant, Driver, Operation } from "./cells";

/** The figure of several runs. */
export interface Summary {
  median: number;
  least: number;
  most: number;
}

/** Undefined if there are no values. */
export function summaryOf(values: readonly number[]): Summary | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, most] = [sorted[0], sorted.at(-1)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.ceil((sorted.length - 1) / 2)];
  if (least === undefined || most === undefined || low === undefined || high === undefined) return undefined;
  return { median: (low + high) / 2, least, most };
}

/** The ratio of two figures of the same round, so that a slow machine affects both equally. */
export function ratioOf<T extends { round: number }>(
  ones: readonly T[],
  others: readonly T[],
  figure: (row: T) => number,
): Summary | undefined {
  const byRound = new Map(others.map((other) => [other.round, figure(other)]));
  return summaryOf(
    ones.flatMap((one) => {
      const beside = byRound.get(one.round);
      return beside === undefined ? [] : [figure(one) / beside];
    }),
  );
}

export interface Place {
  driver: Driver;
  size: number;
  contestant: Contestant;
  operation: Operation;
}

/** All measurements. */
export class Results {
  private readonly cells: readonly Cell[];

  /** Uses the last of several cells with the same place and round, since an interrupted unit is measured again. */
  constructor(cells: readonly Cell[]) {
    const keyOf = (cell: Cell) =>
      [cell.round, cell.driver, cell.size, cell.contestant, cell.operation].join(" ");
    this.cells = [...new Map(cells.map((cell) => [keyOf(cell), cell])).values()];
  }

  at(place: Partial<Place>): Cell[] {
    const wanted = Object.entries(place);
    return this.cells.filter((cell) => wanted.every(([key, value]) => cell[key as keyof Place] === value));
  }

  seconds(place: Place): Summary | undefined {
    return summaryOf(this.at(place).map(({ seconds }) => seconds));
  }

  /** The ratio of wall times. */
  ratio(one: Place, other: Place): Summary | undefined {
    return ratioOf(this.at(one), this.at(other), ({ seconds }) => seconds);
  }

  get sizes(): number[] {
    return [...new Set(this.cells.map(({ size }) => size))].sort((a, b) => a - b);
  }
}
