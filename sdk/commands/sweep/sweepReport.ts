import { z } from "zod";
import { ownerText } from "../../../provider/api/mark";
import { oneLine } from "../../../provider/api/text";
import { count, EXIT } from "../command";
import { type Asked, durationText, type Found, type Left } from "./leftovers";

/*
 * The report of `sweep` in the format of `--json`. New fields do not change the version. If a field is removed or changes its
 * meaning, the version increases.
 */

const endpointSchema = z.object({
  id: z.string(),
  url: z.string().optional(),
  /** The resource that its mark names. */
  owner: z.string(),
  createdAt: z.string().optional(),
});

export const sweepReportSchema = z.object({
  version: z.literal(1),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /**
   * `none`: nothing to sweep; `planned`: something to sweep, and nothing was written; `swept`: all of it was deleted; `unswept`:
   * some of it was not; `refused`: nothing was written, for the reasons in `refusals`.
   */
  outcome: z.enum(["none", "planned", "swept", "unswept", "refused"]),
  /** 0, 7 for `planned`, 3 for a refused key, 1 for everything else. */
  exitCode: z.int(),
  mark: z.string(),
  /** In seconds. */
  olderThan: z.int(),
  /** The base URL of the service; missing if the settings do not give it. */
  service: z.string().optional(),
  /** `project/stack` of the stacks whose states were read. */
  stacks: z.array(z.string()),
  gone: z.array(z.string()),
  refusals: z.array(z.object({ what: z.string(), reason: z.string(), authentication: z.boolean() })),
  planned: z.array(
    endpointSchema.extend({
      /** Missing if nothing was written. */
      deleted: z.boolean().optional(),
      /** Why it was not deleted, or what was found in its place. */
      reason: z.string().optional(),
      authentication: z.boolean().optional(),
    }),
  ),
  /** The marked endpoints that are in no state, and that stay, each with the reason. */
  left: z.array(endpointSchema.extend({ reason: z.string() })),
});
export type SweepReport = z.output<typeof sweepReportSchema>;

type Marked = Pick<Left, "live" | "mark">;

const inJson = ({ live: { id, url, createdAt }, mark }: Marked) => ({
  id,
  ...(url !== undefined && { url }),
  owner: ownerText(mark),
  ...(createdAt !== undefined && { createdAt }),
});

export function reportOf(
  { refusals, planned, left, results, service }: Found,
  { yes: _, ...asked }: Asked & Pick<SweepReport, "startedAt" | "stacks">,
): SweepReport {
  const endedAt = new Date().toISOString();
  const failed = [...refusals, ...[...results.values()].filter(({ deleted }) => !deleted)];
  const failure = failed.some(({ authentication }) => authentication) ? EXIT.authentication : EXIT.failed;
  const [outcome, exitCode]: [SweepReport["outcome"], number] =
    refusals.length > 0
      ? ["refused", failure]
      : failed.length > 0
        ? ["unswept", failure]
        : planned.length === 0
          ? ["none", EXIT.done]
          : results.size === 0
            ? ["planned", EXIT.findings]
            : ["swept", EXIT.done];
  return sweepReportSchema.parse({
    version: 1,
    endedAt,
    outcome,
    exitCode,
    ...asked,
    ...(service !== undefined && { service }),
    refusals,
    planned: planned.map((one) => ({ ...inJson(one), ...results.get(one.live.id) })),
    left: left.map((one) => ({ ...inJson(one), reason: one.reason })),
  });
}

/** The id, URL and owner of an endpoint, for a line of a log. */
export const endpointText = ({ live, mark }: Marked): string =>
  oneLine(`${live.id} (${live.url ?? "no URL"}) of ${ownerText(mark)}`);

export function planText({ planned, left, service }: Found, { mark, olderThan }: Asked): string {
  const lines = planned.map(
    (one) => `  ${endpointText(one)}, created ${one.live.createdAt}, ${durationText(one.age)} ago`,
  );
  const stay = left.map((one) => `  ${endpointText(one)}: ${one.reason}`);
  return [
    `${service}: ${count(planned.length, "endpoint")} with the mark ${oneLine(mark)}, in no state and older than ${durationText(olderThan)}`,
    ...lines,
    ...(stay.length > 0 ? ["In no state either, but left alone:", ...stay] : []),
  ].join("\n");
}

export function resultText({ outcome, refusals, planned }: SweepReport): string {
  const deleted = planned.filter((one) => one.deleted).length;
  const last = {
    none: "Nothing to sweep.",
    planned: `Nothing was deleted. --yes deletes ${count(planned.length, "endpoint")}.`,
    swept: `Deleted: ${count(deleted, "endpoint")}.`,
    unswept: `Deleted: ${deleted} of ${count(planned.length, "endpoint")}.`,
    refused: "Nothing was deleted.",
  };
  return [
    ...refusals.map(({ what, reason }) => `refused: ${oneLine(`${what}: ${reason}`)}`),
    last[outcome],
  ].join("\n");
}
