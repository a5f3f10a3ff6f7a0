/** Time and randomness, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. Never goes back. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
};

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/i;

/** When an endpoint was created, by the service's clock, in milliseconds; undefined if that is unknown. Without a zone, it is UTC. */
export function createdAt({ createdAt: text }: { createdAt?: unknown }): number | undefined {
  const [whole, , zone] = typeof text === "string" ? (RFC3339.exec(text) ?? []) : [];
  const time = whole === undefined ? Number.NaN : Date.parse(zone ? whole : `${whole}Z`);
  return Number.isNaN(time) ? undefined : time;
}
