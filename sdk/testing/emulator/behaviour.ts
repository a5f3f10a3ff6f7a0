import { ServiceError } from "./serviceErrors";

/** The code and status of the refusal of a taken URL, and whether the answer contains the code. */
const taken = {
  "18017": [18017, 400, true],
  "18009": [18009, 409, true],
  "422": [18001, 422, true],
  "400-bare": [18017, 400, false],
  "409-bare": [18009, 409, false],
} as const;

/** How a URL that is not ready yet is refused, and for how many milliseconds by the service's clock. */
export interface Busy {
  ms: number;
  code: 18006 | 18016 | 18017;
}

/** A time in an answer: a number of milliseconds ahead of the service's clock, another text, or null for none. */
export type ReportedTime = number | string | null;

/** What the public service does not document, or what differs between accounts. `Emulator.behave` changes it at run time. */
export interface Behaviour {
  /**
   * How a URL is refused that another endpoint has, where neither has pooling enabled. `18017`: with that code and the
   * status 400, as the public service does. `18009`: with 409. `422`: with that status and another code. `400-bare` and
   * `409-bare`: without a code. `allowed`: not at all, so that several endpoints have equal URLs. Default: `18017`.
   */
  urlTaken: keyof typeof taken | "allowed";
  /** How creates and moves to a URL are refused after its last endpoint has left it. Default: they are not. */
  busyUrl: Busy | undefined;
  /**
   * The list shows the world as it was so many milliseconds ago; reads by id do not. A seed has been there since its
   * `created_at`, if it is given one. Default: 0.
   */
  listLag: number;
  /** The `Date` of all answers. Default: 0, the emulator's clock. */
  date: ReportedTime;
  /** The `created_at` that cloud endpoints get from now on; their place in the list is the true one. Default: 0. */
  createdAt: ReportedTime;
  /** Cloud endpoints have a `principal`, the one of the key that created them. Default: false. */
  principals: boolean;
  /** Refuse a create without a traffic policy, as the public service does. Default: false, as the contract has it. */
  requirePolicy: boolean;
  /**
   * What a list does with `filter`, which the contract does not name. `works`: takes the comparisons with texts that the
   * provider sends. `refused`: 400, as an unknown parameter. `ignored`: gives the whole list. `incomplete`: leaves out every other
   * endpoint that fits, the newest first. `agent`: filters know the type `ephemeral` as `agent`, as the public service's
   * examples have it, though lists show `ephemeral`. Default: `works`.
   */
  filters: "works" | "refused" | "ignored" | "incomplete" | "agent";
  /** Most endpoints on a page of the list, whatever `limit` asks for. Default: 100. */
  pageSize: number;
}

const DEFAULTS: Behaviour = {
  urlTaken: "18017",
  busyUrl: undefined,
  listLag: 0,
  date: 0,
  createdAt: 0,
  principals: false,
  requirePolicy: false,
  filters: "works",
  pageSize: 100,
};

/** Throws a `RangeError` for a page that could hold nothing. */
export function behaviourOf(change: Partial<Behaviour>, before = DEFAULTS): Behaviour {
  const behaviour = { ...before, ...change };
  if (behaviour.pageSize >= 1) return behaviour;
  throw new RangeError(`pageSize must be at least 1, not ${behaviour.pageSize}`);
}

/** Undefined where it is not refused. */
export function urlTakenError({ urlTaken }: Behaviour, url: string): ServiceError | undefined {
  if (urlTaken === "allowed") return undefined;
  const [code, status, coded] = taken[urlTaken];
  return new ServiceError(code, url, "it is not free").withStatus(status, coded);
}

export function reportedTime(
  time: ReportedTime,
  now: number,
  write: (date: Date) => string,
): string | undefined {
  return typeof time === "number" ? write(new Date(now + time)) : (time ?? undefined);
}
