import { ServiceError } from "./errors";

/** The code and the status with which a URL is refused, and whether the code is told. */
const taken = {
  "18017": [18017, 400, true],
  "18009": [18009, 409, true],
  "422": [18001, 422, true],
  "400-bare": [18017, 400, false],
  "409-bare": [18009, 409, false],
} as const;

/** How a URL is refused that is not ready yet, and for how long: a number of milliseconds by the service's clock. */
export interface Busy {
  ms: number;
  code: 18006 | 18016 | 18017;
}

/** A time that the service tells: so many milliseconds ahead of its clock, another text, or not at all. */
export type ToldTime = number | string | null;

/** What nobody knows of the public service, or what differs between its accounts. Each can change while it runs. */
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
  date: ToldTime;
  /** The `created_at` that cloud endpoints get from now on; their place in the list is the true one. Default: 0. */
  createdAt: ToldTime;
  /** Cloud endpoints have a `principal`, the one of the key that created them. Default: false. */
  principals: boolean;
  /** Refuse a create without a traffic policy, as the public service does. Default: false, as the contract has it. */
  requirePolicy: boolean;
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
  return new ServiceError(code, url, "it is not free").seenAs(status, coded);
}

export function told(time: ToldTime, now: number, write: (date: Date) => string): string | undefined {
  return typeof time === "number" ? write(new Date(now + time)) : (time ?? undefined);
}
