import type { BudgetRow } from "../budget";
import type { Read } from "../rawFile";
import { pageHead, seconds, table } from "../text";

const HOW = `The provider's core creates, reads, changes (one in ten) and deletes 500 endpoints, eight at a time, against the emulator's
limit of 120 requests in any 60 s, whose answers come 20 ms late. Client and emulator go by one clock: requests take real
time on it, and a long wait is cut short and the clock moved on. Each operation has a client of its own and begins
with the whole budget.

The least time is what the requests that the job takes need at least: full windows for all but the last of them, and 20 ms
for every eight of the rest. A refresh takes one request for each hundred endpoints, and each page tells where the next is.
`;

export function budgetPage({ lines, ...head }: Read<BudgetRow>): string {
  const columns = [
    "",
    "endpoints",
    "requests needed",
    "requests sent",
    "answered 429",
    "time, s",
    "least, s",
    "beyond it",
  ];
  const rows = lines.map(({ operation, size, needed, requests, refused, seconds: took, least }) => {
    const beyond = `${seconds(took - least)} s (${((took / least - 1) * 100).toFixed(1)} %)`;
    return [
      operation,
      `${size}`,
      `${needed}`,
      `${requests}`,
      `${refused}`,
      seconds(took),
      seconds(least),
      beyond,
    ];
  });
  return [
    pageHead("Within 120 requests a minute", head, "npm run bench -- --budget"),
    HOW,
    table(columns, rows),
    "",
  ].join("\n\n");
}
