import { drivers, operations } from "./cells";
import type { Place, Results } from "./results";
import type { Summary } from "./statistics";
import { driverNames, megabytes, ratioText } from "./text";

/** What this package says of itself, held against what was measured. */
export interface Claim {
  what: string;
  /** Undefined where too little was measured to tell. */
  holds: boolean | undefined;
  figures: string;
}

/** A claim needs so many runs. */
const ENOUGH = 5;

export function claims(results: Results): Claim[] {
  return [
    ...nearTheFloor(results),
    ...fasterThanPlain(results),
    fewConnections(results),
    ...fewRequests(results),
    nearTheListing(results),
    ...linear(results),
    ...smallProcess(results),
  ];
}

function nearTheFloor(results: Results): Claim[] {
  return (["create", "destroy"] as const).map((operation) => {
    const place = { driver: "cli", size: 500, operation } as const;
    return judged(
      `${operation} of 500 on the Pulumi CLI takes at most 1.15 times as long as with a provider that does nothing`,
      results.ratio({ ...place, contestant: "ours" }, { ...place, contestant: "noop" }),
      (ratio) => ratio <= 1.15,
    );
  });
}

function fasterThanPlain(results: Results): Claim[] {
  return (["create", "destroy"] as const).map((operation) => {
    const place = { driver: "cli", size: 500, operation } as const;
    return judged(
      `${operation} of 500 on the Pulumi CLI is at least 1.5 times as fast as with a plain dynamic provider`,
      results.ratio({ ...place, contestant: "plain" }, { ...place, contestant: "ours" }),
      (ratio) => ratio >= 1.5,
    );
  });
}

function fewConnections(results: Results): Claim {
  const most = Math.max(...results.all({ contestant: "ours" }).map(({ connections }) => connections));
  return {
    what: "at most eight connections are open at once, whatever the command",
    holds: Number.isFinite(most) ? most <= 8 : undefined,
    figures: Number.isFinite(most) ? `at most ${most}` : NOTHING,
  };
}

function fewRequests(results: Results): Claim[] {
  return drivers.map((driver) => {
    const cells = results.at({ driver, size: 1000, contestant: "ours", operation: "refresh" });
    const lists = cells.map(({ requests }) => requests.list);
    const gets = cells.map(({ requests }) => requests.get);
    return {
      what: `a refresh of 1,000 takes 10 list requests and at most ten single reads (${driverNames[driver]})`,
      holds: cells.length === 0 ? undefined : lists.every((n) => n === 10) && gets.every((n) => n <= 10),
      figures:
        cells.length === 0
          ? NOTHING
          : `${Math.min(...lists)}–${Math.max(...lists)} list requests, ${Math.min(...gets)}–${Math.max(...gets)} single reads in ${cells.length} runs`,
    };
  });
}

function nearTheListing(results: Results): Claim {
  const place = { driver: "direct", size: 1000, operation: "refresh" } as const;
  return judged(
    "the provider's part of a refresh of 1,000 takes at most 1.3 times as long as the raw listing",
    results.ratio({ ...place, contestant: "ours" }, { ...place, contestant: "raw" }),
    (ratio) => ratio <= 1.3,
  );
}

function linear(results: Results): Claim[] {
  return operations.map((operation) => {
    const place = { driver: "direct", contestant: "ours", operation } as const;
    return judged(
      `the provider's own time for ${operation} grows from 500 to 1,000 by no more than 10 % beyond twice`,
      results.ratio({ ...place, size: 1000 }, { ...place, size: 500 }),
      (ratio) => ratio <= 2 * 1.1,
    );
  });
}

function smallProcess(results: Results): Claim[] {
  return (["kit", "cli"] as const).map((driver) => {
    const most = (contestant: Place["contestant"]) =>
      Math.max(
        ...results.all({ driver, size: 1000, contestant }).map(({ providerBytes = 0 }) => providerBytes),
      );
    const beside = (contestant: Place["contestant"]) =>
      most(contestant) > 0 ? megabytes(most(contestant)) : NOTHING;
    const ours = most("ours");
    const measured = ours > 0;
    return {
      what: `the provider's process for 1,000 stays under 120 MB resident (${driverNames[driver]})`,
      holds: measured ? ours < 120e6 : undefined,
      figures: measured
        ? `at most ${megabytes(ours)}; with a provider that does nothing ${beside("noop")}, with the plain one ${beside("plain")}`
        : NOTHING,
    };
  });
}

const NOTHING = "not measured";

function judged(what: string, ratio: Summary | undefined, holds: (median: number) => boolean): Claim {
  if (!ratio) return { what, holds: undefined, figures: NOTHING };
  const enough = ratio.runs >= ENOUGH;
  const few = enough ? "" : `, of ${ratio.runs} runs only`;
  return { what, holds: enough ? holds(ratio.median) : undefined, figures: `${ratioText(ratio)}${few}` };
}
