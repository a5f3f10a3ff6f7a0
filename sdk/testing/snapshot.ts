import { canonicalJson, isMapping } from "../../provider/api/json";
import type { Diagnostic, RunResult, Step } from "./types";

/** The result of a run, without parts that differ between equal runs. */
export interface RunSnapshot extends Pick<RunResult, "command" | "ok" | "outputs" | "changes"> {
  /** Sorted by name and type. */
  steps: Omit<Step, "urn" | "id">[];
  /** Sorted by name, severity and message. */
  diagnostics: (Pick<Diagnostic, "severity" | "message"> & { name?: string })[];
  /** Sorted as text. */
  requests: { method: string; path: string; query?: unknown; body?: unknown; status: number }[];
}

/**
 * Converts a result for a snapshot test: `expect(snapshotOf(await stack.up())).toMatchSnapshot()`. Ids, times and ports
 * are replaced by `[id of NAME]`, `[id]`, `[time]` and `[port]`. The duration, and outputs whose names start with `__`, are
 * left out. Steps, diagnostics and requests are sorted, because parallel operations end in any order. The stack's outputs
 * contain secrets in plain text, like those of the result.
 */
export function snapshotOf(result: RunResult): RunSnapshot {
  const ids = new Map(result.steps.flatMap(({ id, name }) => (id ? [[id, `[id of ${name}]`]] : [])));
  const stable = <T>(value: T): T => replaced(value, ids) as T;
  const { command, ok, outputs, changes } = result;
  return {
    command,
    ok,
    outputs: stable(outputs),
    steps: sortedBy(result.steps, ({ name, type }) => `${name} ${type}`).map(
      ({ urn: _, id: __, outputs, ...step }) =>
        stable({ ...step, ...(outputs && { outputs: withoutNotes(outputs) }) }),
    ),
    changes: { ...changes },
    diagnostics: sortedBy(
      result.diagnostics.map(({ severity, message, urn }) => {
        const name = urn?.split("::").at(-1);
        return { severity, message: stable(message), ...(name !== undefined && { name }) };
      }),
      ({ name = "", severity, message }) => `${name} ${severity} ${message}`,
    ),
    requests: sortedBy(
      result.requests.map(({ method, path, query, body, status }) =>
        stable({
          method,
          path,
          ...(Object.keys(query).length > 0 && { query }),
          ...(body !== undefined && { body }),
          status,
        }),
      ),
      canonicalJson,
    ),
  };
}

/** The outputs without the provider's notes, such as the fingerprint of the account. */
export const withoutNotes = (outputs: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(outputs).filter(([name]) => !name.startsWith("__")));

/** Any id. `SERVICE_ID` tests whether the service creates ids of this kind. */
const ID = /\b[a-z]+_[0-9A-Za-z]{20,}\b/g;
const SERVICE_ID = /^(ep|op|rd|ra|tn|ts|usr|edghts|edgtls|edgtcp)_/;
/** RFC 3339 in UTC. */
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** The port of an address on loopback. */
const PORT = /(?<=\b(?:127\.0\.0\.1|localhost):)\d+/g;

function replaced(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string")
    return value
      .replace(ID, (id) => ids.get(id) ?? (SERVICE_ID.test(id) ? "[id]" : id))
      .replace(TIME, "[time]")
      .replace(PORT, "[port]");
  if (Array.isArray(value)) return value.map((item) => replaced(item, ids));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, ids)]));
}

function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...items].sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    return a < b ? -1 : Number(a > b);
  });
}
