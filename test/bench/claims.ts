import { drivers } from "./cells";
import type { Results, Summary } from "./results";
import { driverNames, megabytes, ratioText } from "./text";

/** What this package claims about itself, compared with what was measured. */
export interface Claim {
  what: string;
  /** Undefined where too little was measured. */
  holds: boolean | undefined;
  figures: string;
}

/** A ratio needs so many runs. */
const ENOUGH = 5;

const NOTHING = "not measured";

export function claims(results: Results): Claim[] {
  const of500 = (["create", "destroy"] as const).flatMap((operation) => {
    const place = { driver: "cli", size: 500, operation } as const;
    const to = (one: "ours" | "plain", other: "ours" | "noop") =>
      results.ratio({ ...place, contestant: one }, { ...place, contestant: other });
    return [
      judged(
        `${operation} of 500 on the Pulumi CLI takes at most 1.15 times as long as with a provider that does nothing`,
        to("ours", "noop"),
        (ratio) => ratio <= 1.15,
      ),
      judged(
        `${operation} of 500 on the Pulumi CLI is at least 1.5 times as fast as with a plain dynamic provider`,
        to("plain", "ours"),
        (ratio) => ratio >= 1.5,
      ),
    ];
  });
  return [...of500, fewConnections(results), ...fewRequests(results), ...smallProcess(results)];
}

function fewConnections(results: Results): Claim {
  const counts = results.at({ contestant: "ours" }).map(({ connections }) => connections);
  const measured = counts.length > 0;
  return {
    what: "at most eight connections are open at once, whatever the command",
    holds: measured ? Math.max(...counts) <= 8 : undefined,
    figures: measured ? `at most ${Math.max(...counts)}` : NOTHING,
  };
}

function fewRequests(results: Results): Claim[] {
  return drivers.map((driver) => {
    const cells = results.at({ driver, size: 1000, contestant: "ours", operation: "refresh" });
    const most = (of: "list" | "get") => Math.max(...cells.map(({ requests }) => requests[of]));
    const measured = cells.length > 0;
    return {
      what: `a refresh of 1,000 takes 10 list requests and at most ten single reads (${driverNames[driver]})`,
      holds: measured ? cells.every(({ requests }) => requests.list === 10 && requests.get <= 10) : undefined,
      figures: measured
        ? `at most ${most("list")} list requests and ${most("get")} single reads in ${cells.length} runs`
        : NOTHING,
    };
  });
}

function smallProcess(results: Results): Claim[] {
  return drivers.map((driver) => {
    const cells = results.at({ driver, size: 1000, contestant: "ours" });
    const bytes = cells.flatMap(({ providerBytes }) => providerBytes ?? []);
    const measured = bytes.length > 0;
    return {
      what: `the provider's process for 1,000 stays under 120 MB resident (${driverNames[driver]})`,
      holds: measured ? Math.max(...bytes) < 120e6 : undefined,
      figures: measured ? `at most ${megabytes(Math.max(...bytes))}` : NOTHING,
    };
  });
}

function judged(what: string, ratio: Summary | undefined, holds: (median: number) => boolean): Claim {
  if (!ratio) return { what, holds: undefined, figures: NOTHING };
  const enough = ratio.runs >= ENOUGH;
  const few = enough ? "" : `, of ${ratio.runs} runs only`;
  return { what, holds: enough ? holds(ratio.median) : undefined, figures: `${ratioText(ratio)}${few}` };
}
