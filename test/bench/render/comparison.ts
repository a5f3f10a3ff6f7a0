import {
  type Cell,
  type Contestant,
  contestants,
  type Driver,
  drivers,
  operations,
  takesPart,
} from "../cells";
import { claims } from "../claims";
import type { Read } from "../rawFile";
import { type Place, Results } from "../results";
import {
  driverNames,
  kilobytes,
  megabytes,
  pageHead,
  ratioText,
  requestsText,
  seconds,
  secondsText,
  table,
} from "../text";

const TITLE = "Many endpoints, beside what else there is";

const HOW = `The service is the emulator, in a process of its own, which answers 20 ms late. Each endpoint has a policy of 1 KB.
One after the other each contestant takes a new stack through its life, as many rounds as there are runs, in an order that
changes with each round. Given are the median and, in parentheses, the least and the most. A ratio is taken within each
round, and its median given.

- *ours*: \`CloudEndpoint\` of this package.
- *plain*: a dynamic provider as most people write it ([\`plain.ts\`](../contestants/plain.ts)): a class over
  \`pulumi.dynamic.Resource\`, one \`fetch\` an operation.
- *noop*: a dynamic provider with a constant provider string and a state as large as ours, that does nothing
  ([\`noop.ts\`](../contestants/noop.ts)): what the engine takes by itself.
- *raw*: the requests that the job takes, and nothing else ([\`raw.ts\`](../contestants/raw.ts)): what the service takes
  by itself. Of a refresh these are the pages of the list, of a preview there are none.

\`create\` is \`up --skip-preview\`, \`preview\` is of a program that did not change, \`refresh\` is with \`--skip-preview\`, of
\`update\` one endpoint in ten has another description. The engines' times are of the whole command, processes and all.

*Without an engine* the methods of a contestant's provider are called directly, as many at once as an engine calls, in a
new process for each command whose start is not counted. That is the provider's own time: on an engine nothing can be
told of it, since checkpoints, which grow with the square of the number, hide it. It is what growth is judged by, and what
the raw listing is compared with. Ours and raw use the same HTTP library, and both load it at the first request, within
the measured time.

The peak of resident memory is the kernel's figure (\`VmHWM\`) of the dynamic provider's process, looked up every 100 ms.
It holds Node.js and Pulumi's own host, which is all that there is to *noop*. Processor time is that process's, its start
included. Connections are counted by the service: the most that were open at once. The state's size is that of the export
as JSON without spaces. Of these the largest value of all runs is given.
`;

/** The page of the comparison. */
export function comparisonPage({ lines, ...head }: Read<Cell>): string {
  const results = new Results(lines);
  const sections = drivers
    .filter((driver) => results.all({ driver }).length > 0)
    .flatMap((driver) => [
      `## ${heading(driver)}`,
      `![Wall times](comparison-${driver}.svg)`,
      timesTable(results, driver),
      requestsTable(results, driver),
      ...(driver === "direct" ? [] : [processTable(results, driver)]),
    ]);
  const checks = claims(results).map(({ what, holds, figures }) => [
    what,
    holds === undefined ? "not told" : holds ? "yes" : "**no**",
    figures,
  ]);
  return [
    pageHead(TITLE, head, "npm run bench"),
    HOW,
    "## What is claimed",
    table(["claim", "holds", "measured"], checks),
    ...sections,
    "",
  ].join("\n\n");
}

const heading = (driver: Driver) =>
  driverNames[driver].replace(/^[wk]/, (letter) => (letter === "k" ? "The k" : "W"));

function timesTable(results: Results, driver: Driver): string {
  const floor: Contestant = driver === "direct" ? "raw" : "noop";
  const head = [
    "",
    "endpoints",
    "runs",
    "ours, s",
    "plain, s",
    `${floor}, s`,
    `ours / ${floor}`,
    "plain / ours",
  ];
  const rows = places(results, driver).map(({ size, operation }) => {
    const at = (contestant: Contestant): Place => ({ driver, size, operation, contestant });
    const raw: Place = { ...at("raw"), driver: "direct" };
    const time = (contestant: Contestant) => orDash(results.seconds(at(contestant)), secondsText);
    // Nothing to compare with where the floor is to do nothing.
    const compared =
      floor === "raw" && operation === "preview" ? undefined : results.ratio(at("ours"), at(floor));
    const runs = `${results.at(at("ours")).length}`;
    const times = [time("ours"), time("plain"), time(floor)];
    const row = [operation, `${size}`, runs, ...times, orDash(compared, ratioText)];
    const ratios = [orDash(results.ratio(at("plain"), at("ours")), ratioText)];
    if (driver !== "direct")
      ratios.push(operation === "preview" ? "–" : orDash(results.ratio(at("ours"), raw), ratioText));
    return [...row, ...ratios];
  });
  return table(driver === "direct" ? head : [...head, "ours / raw"], rows);
}

function requestsTable(results: Results, driver: Driver): string {
  const among = contestantsOf(driver).filter((contestant) => contestant !== "noop");
  const head = among.flatMap((contestant) => [`requests, ${contestant}`, `connections, ${contestant}`]);
  const rows = places(results, driver).map(({ size, operation }) => [
    operation,
    `${size}`,
    ...among.flatMap((contestant) => {
      const cells = results.at({ driver, size, operation, contestant });
      // Usually all runs have one and the same.
      const texts = new Set(cells.map(({ requests }) => requestsText(requests)));
      return [[...texts].join(" or ") || "–", largest(cells, ({ connections }) => connections, String)];
    }),
  ]);
  return table(["", "endpoints", ...head], rows);
}

function processTable(results: Results, driver: Driver): string {
  const among = contestantsOf(driver);
  const figures: [string, (cell: Cell) => number | undefined, (value: number) => string][] = [
    ["peak memory", ({ providerBytes }) => providerBytes, megabytes],
    ["processor", ({ providerSeconds }) => providerSeconds, (value) => `${seconds(value)} s`],
    ["state", ({ stateBytes }) => stateBytes, kilobytes],
  ];
  const head = figures.flatMap(([name]) => among.map((contestant) => `${name}, ${contestant}`));
  const rows = places(results, driver).map(({ size, operation }) => [
    operation,
    `${size}`,
    ...figures.flatMap(([, of, text]) =>
      among.map((contestant) => largest(results.at({ driver, size, operation, contestant }), of, text)),
    ),
  ]);
  return table(["", "endpoints", ...head], rows);
}

/** The largest value of all runs. */
function largest(
  cells: readonly Cell[],
  of: (cell: Cell) => number | undefined,
  text: (value: number) => string,
): string {
  const values = cells.flatMap((cell) => of(cell) ?? []);
  return values.length > 0 ? text(Math.max(...values)) : "–";
}

const contestantsOf = (driver: Driver) => contestants.filter((contestant) => takesPart(driver, contestant));

const places = (results: Results, driver: Driver) =>
  operations.flatMap((operation) =>
    results.sizes
      .filter((size) => results.all({ driver, size, operation }).length > 0)
      .map((size) => ({ size, operation })),
  );

function orDash<T>(value: T | undefined, text: (value: T) => string): string {
  return value === undefined ? "–" : text(value);
}
