import { expect, test } from "vitest";
import { type BudgetRow, withinTheBudget } from "./budget";

/** In seconds: what is counted in real time, on a machine that is busy with other tests. */
const SLACK = 3;

test("500 endpoints within 120 requests a minute take hardly longer than they must, and meet no 429", async () => {
  const rows = await withinTheBudget(500);
  const timely = ({ seconds, least }: BudgetRow) => seconds <= least * 1.03 + SLACK;
  expect(rows.filter((row) => !timely(row))).toEqual([]);
  expect(rows.map(({ operation, refused }) => ({ operation, refused }))).toEqual([
    { operation: "create", refused: 0 },
    { operation: "refresh", refused: 0 },
    { operation: "update", refused: 0 },
    { operation: "destroy", refused: 0 },
  ]);
});
