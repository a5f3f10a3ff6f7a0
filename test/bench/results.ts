import type { Cell, Contestant, Driver, Operation } from "./cells";
import { type Summary, summaryOf } from "./statistics";

/** Which cells: one of each round. */
export interface Place {
  driver: Driver;
  size: number;
  contestant: Contestant;
  operation: Operation;
}

/** All that was measured, to be asked for medians. */
export class Results {
  private readonly cells = new Map<string, Map<number, Cell>>();

  /** Of two cells of one round the later one counts: a life that was ended in the middle is measured anew. */
  constructor(cells: readonly Cell[]) {
    for (const cell of cells) {
      const rounds = this.cells.get(keyOf(cell)) ?? new Map<number, Cell>();
      this.cells.set(keyOf(cell), rounds.set(cell.round, cell));
    }
  }

  /** In the order of the rounds. */
  at(place: Place): Cell[] {
    return [...(this.cells.get(keyOf(place))?.values() ?? [])].sort((a, b) => a.round - b.round);
  }

  all(where: Partial<Place>): Cell[] {
    const wanted = Object.entries(where);
    const matches = (cell: Cell) =>
      wanted.every(([name, value]) =>
        Object.entries(cell).some(([key, own]) => key === name && own === value),
      );
    return [...this.cells.values()].flatMap((rounds) => [...rounds.values()]).filter(matches);
  }

  seconds(place: Place): Summary | undefined {
    return summaryOf(this.at(place).map(({ seconds }) => seconds));
  }

  /** Wall time of one to that of the other, within each round, so that a slow hour falls out of it. */
  ratio(one: Place, other: Place): Summary | undefined {
    const others = this.cells.get(keyOf(other));
    const ratios = this.at(one).flatMap(({ round, seconds }) => {
      const beside = others?.get(round);
      return beside ? [seconds / beside.seconds] : [];
    });
    return summaryOf(ratios);
  }

  get sizes(): number[] {
    return [...new Set(this.all({}).map(({ size }) => size))].sort((a, b) => a - b);
  }
}

const keyOf = ({ driver, size, contestant, operation }: Place) =>
  `${driver} ${size} ${contestant} ${operation}`;
