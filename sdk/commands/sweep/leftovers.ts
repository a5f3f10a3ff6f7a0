import { createdAt } from "../../../provider/api/clock";
import type { LiveEndpoint, Mark } from "../../../provider/api/contract";
import { ownerAtCreate, partsOf } from "../../../provider/api/mark";

/* Which endpoints of an account killed runs have left behind. */

export interface Leftover {
  live: LiveEndpoint;
  mark: Mark;
  /** In seconds. */
  age: number;
}

/** An endpoint that stays although no state has it. */
export interface Left {
  live: LiveEndpoint;
  mark: Mark;
  reason: string;
}

export interface Asked {
  mark: string;
  yes: boolean;
  /** In seconds. */
  olderThan: number;
  /** `project/stack`, as in marks. */
  gone: string[];
}

export interface Failure {
  reason: string;
  /** Whether the service or Pulumi's backend refused the key. */
  authentication: boolean;
}

export interface Found {
  service?: string;
  /** Why nothing was deleted. */
  refusals: (Failure & { what: string })[];
  planned: Leftover[];
  left: Left[];
  /** By the endpoint's id; empty if nothing was written. */
  results: Map<string, { deleted: boolean } & Partial<Failure>>;
}

interface Conditions {
  namespace: string;
  /** In seconds. */
  olderThan: number;
  /** The service's time, in milliseconds; undefined if its replies have no `Date`. */
  now: number | undefined;
  isInUse(live: LiveEndpoint): boolean;
}

export function planOf(
  endpoints: readonly LiveEndpoint[],
  { namespace, olderThan, now, isInUse }: Conditions,
): { planned: Leftover[]; left: Left[] } {
  const planned: Leftover[] = [];
  const left: Left[] = [];
  for (const live of endpoints) {
    const mark = live.createdFor;
    if (!mark || stackOfMark(live, namespace) === undefined || isInUse(live)) continue;
    const age = ((now ?? Number.NaN) - (createdAt(live) ?? Number.NaN)) / 1000;
    if (!ownerAtCreate(live))
      left.push({
        live,
        mark,
        reason: "its mark does not fit the time of its creation, so it may be a copy",
      });
    else if (age >= olderThan) planned.push({ live, mark, age });
    else {
      const reason = Number.isNaN(age) ? "its age is unknown" : `younger than ${durationText(olderThan)}`;
      left.push({ live, mark, reason });
    }
  }
  return { planned, left };
}

/** `project/stack` in the mark of a cloud endpoint; undefined for an endpoint without a mark of this namespace. */
export function stackOfMark({ type, createdFor: mark }: LiveEndpoint, namespace: string): string | undefined {
  if (type !== "cloud" || mark?.namespace !== namespace || !URN.test(mark.urn)) return undefined;
  const { project, stack } = partsOf(mark);
  return `${project}/${stack}`;
}

const URN = /^urn:pulumi:[^:]+::[^:]+::./;

/** In seconds, longest first. */
export const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** In the largest unit that loses no half of it. */
export function durationText(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= 2 * size || seconds === size) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${unit}`;
}
