import type { WireChange, WireEndpoint } from "../../../provider/service/contract";
import { ServiceError } from "./serviceErrors";

/** The error for a taken URL: its code, its status, and whether the reply contains the code. */
const taken = {
  "18017": [18017, 400, true],
  "18009": [18009, 409, true],
  "422": [18001, 422, true],
  "400-bare": [18017, 400, false],
  "409-bare": [18009, 409, false],
} as const;

/** A time in a reply: milliseconds ahead of the emulator's clock, any other text, or `null` to leave it out. */
export type ReportedTime = number | string | null;

/** Behaviour that the public service does not document, or that differs between accounts. `emulator.setBehaviour` changes it. */
export interface Behaviour {
  /**
   * The error for a URL that another endpoint has, if neither endpoint has pooling enabled. `18017`: this code with the
   * status 400, as the public service documents. `18009`: this code with 409. `422`: this status with another code. `400-bare`
   * and `409-bare`: these statuses without a code. `allowed`: no error; several endpoints can have the same URL. Default:
   * `18017`.
   */
  urlTaken: keyof typeof taken | "allowed";
  /**
   * The delay of lists in milliseconds. A list shows the endpoints as they were that long ago. Reads by id are current. A seed
   * with a `created_at` exists from that time on. Default: 0.
   */
  listLag: number;
  /** The `Date` header of all replies. Default: 0, the emulator's clock. */
  date: ReportedTime;
  /** The `created_at` of new cloud endpoints. It does not change the order of lists. Default: 0. */
  createdAt: ReportedTime;
  /**
   * Whether an update that changes `url` or `pooling_enabled` is refused. The public service's page on pooling says that neither
   * can change, but its operator sends both, and its Terraform provider `pooling_enabled`. Default: false, as the contract allows.
   */
  fixedUrlAndPooling: boolean;
  /**
   * The effect of the list parameter `filter`, which is not part of the contract. `works`: the emulator evaluates the
   * comparisons that the provider sends. `refused`: 400, like any unknown parameter. `ignored`: the whole list.
   * `incomplete`: every other matching endpoint is missing, beginning with the newest. `agent`: filters use `agent` for
   * the type that lists call `ephemeral`, as in the public service's examples. Default: `works`.
   */
  filters: "works" | "refused" | "ignored" | "incomplete" | "agent";
  /** The maximum number of endpoints on a page of the list, also if `limit` is higher. Default: 100. */
  pageSize: number;
  /**
   * Returns what the service stores of an accepted create, or of an accepted update of the endpoint `before`. The service
   * ignores a field that the result lacks. Default: what was sent.
   */
  stores: (sent: WireChange, before?: WireEndpoint) => WireChange;
  /** Returns what replies show of an endpoint. Default: all fields. */
  shows: (endpoint: WireEndpoint) => object;
}

const DEFAULTS: Behaviour = {
  urlTaken: "18017",
  listLag: 0,
  date: 0,
  createdAt: 0,
  fixedUrlAndPooling: false,
  filters: "works",
  pageSize: 100,
  stores: (sent) => sent,
  shows: (endpoint) => endpoint,
};

/** @throws RangeError if the page size is less than 1. */
export function behaviourOf(change: Partial<Behaviour>, before = DEFAULTS): Behaviour {
  const behaviour = { ...before, ...change };
  if (behaviour.pageSize >= 1) return behaviour;
  throw new RangeError(`pageSize must be at least 1, not ${behaviour.pageSize}`);
}

/** Undefined if equal URLs are allowed. */
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
