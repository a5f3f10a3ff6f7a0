import { type Cell, contestants, type Driver, drivers, operations, type Unit } from "./cells";
import { EngineRuns } from "./engineRuns";
import type { Read } from "./rawFile";
import { type Place, Results } from "./results";
import { Service } from "./serviceClient";
import {
  driverNames,
  kilobytes,
  megabytes,
  orDash,
  pageHead,
  ratioText,
  requestsText,
  seconds,
  secondsText,
  table,
} from "./text";

/** Runs all operations of a unit on a new service, and yields the cell of each operation when it ends. */
export async function* measure(unit: Unit): AsyncGenerator<Cell> {
  const service = await Service.start();
  const runs = await EngineRuns.start({ ...unit, service });
  try {
    for (const operation of operations) {
      await service.counts();
      const { seconds, taken } = await runs.run(operation);
      const counts = await service.counts();
      // A contestant that skips a part of the work must not look faster.
      const expected = unit.contestant === "noop" || operation === "destroy" ? 0 : unit.size;
      if (counts.endpoints !== expected)
        throw new Error(`after ${operation} there are ${counts.endpoints} endpoints, not ${expected}`);
      yield {
        ...unit,
        operation,
        seconds,
        ...counts,
        ...(taken && { providerBytes: taken.bytes, providerSeconds: taken.seconds }),
        ...(operation === "create" && { stateBytes: await runs.stateBytes() }),
      };
    }
  } finally {
    await runs.close();
    await service.close();
  }
}

const HOW = `The service is the emulator in a separate process, which answers after 20 ms. Each endpoint has a policy of 1 KB.
The contestants take turns, each with a new stack, in an order that changes in each round. The figures are the median and,
in parentheses, the minimum and the maximum. Ratios compare runs of the same round.

- *ours*: \`CloudEndpoint\` of this package.
- *plain*: a dynamic provider as most people write it ([\`plain.ts\`](../contestants/plain.ts)).
- *noop*: a dynamic provider that does nothing, with a state as large as ours ([\`noop.ts\`](../contestants/noop.ts)). Its
  time is the engine's share.

\`create\` runs \`up --skip-preview\`, \`preview\` runs on an unchanged program, \`refresh\` runs with \`--skip-preview\`, and \`update\`
changes the description of one endpoint in ten. Times are of the whole command. Memory is the peak of the provider's process
(\`VmHWM\`), including Pulumi's host. Memory, processor time, state and connections are the largest values of all runs.
`;

export function comparisonPage({ lines, ...head }: Read<Cell>): string {
  const results = new Results(lines);
  const sections = drivers
    .filter((driver) => results.at({ driver }).length > 0)
    .flatMap((driver) => [
      `## ${driverNames[driver]}`,
      timesTable(results, driver),
      costsTable(results, driver),
    ]);
  return [
    pageHead("Many endpoints, compared with other providers", head, "npm run bench"),
    HOW,
    ...sections,
    "",
  ].join("\n\n");
}

function timesTable(results: Results, driver: Driver): string {
  const head = ["", "endpoints", "runs", "ours, s", "plain, s", "noop, s", "ours / noop", "plain / ours"];
  const rows = places(results, driver).map((place) => {
    const at = (contestant: Place["contestant"]) => ({ ...place, contestant });
    return [
      place.operation,
      `${place.size}`,
      `${results.at(at("ours")).length}`,
      ...(["ours", "plain", "noop"] as const).map((each) => orDash(results.seconds(at(each)), secondsText)),
      orDash(results.ratio(at("ours"), at("noop")), ratioText),
      orDash(results.ratio(at("plain"), at("ours")), ratioText),
    ];
  });
  return table(head, rows);
}

function costsTable(results: Results, driver: Driver): string {
  const figures: [string, (cell: Cell) => number | undefined, (value: number) => string][] = [
    ["connections", ({ connections }) => connections, String],
    ["peak memory", ({ providerBytes }) => providerBytes, megabytes],
    ["processor", ({ providerSeconds }) => providerSeconds, (value) => `${seconds(value)} s`],
    ["state", ({ stateBytes }) => stateBytes, kilobytes],
  ];
  const head = figures.flatMap(([name]) => contestants.map((contestant) => `${name}, ${contestant}`));
  const rows = places(results, driver).map((place) => {
    const cells = (contestant: Place["contestant"]) => results.at({ ...place, contestant });
    const requests = new Set(cells("ours").map(({ requests }) => requestsText(requests)));
    const largest = figures.flatMap(([, of, text]) =>
      contestants.map((contestant) => {
        const values = cells(contestant).flatMap((cell) => of(cell) ?? []);
        return values.length > 0 ? text(Math.max(...values)) : "–";
      }),
    );
    return [place.operation, `${place.size}`, [...requests].join(" or "), ...largest];
  });
  return table(["", "endpoints", "requests, ours", ...head], rows);
}

const places = (results: Results, driver: Driver) =>
  operations.flatMap((operation) =>
    results.sizes
      .filter((size) => results.at({ driver, size, operation }).length > 0)
      .map((size) => ({ driver, size, operation })),
  );
