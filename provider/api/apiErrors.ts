import { remedyFor, type ServiceFailure } from "./remedies";
import { oneLine } from "./text";

/** An error whose message the user can act on: one line, with the next step. */
export class UserError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The name of a request in messages and traces. Contains nothing secret. */
export interface RequestName {
  method: string;
  /** The path below the base URL. */
  path: string;
}

/** The form of the service's error codes and operation ids. Text of another form may contain anything. */
const SERVICE_CODE = /^ERR_[A-Z]+_\d+$/;
const OPERATION_ID = /^op_\w+$/;

/** Every failure of a request. `message` is one line: what failed, the service's reply, what to do next. */
export abstract class EndpointsError extends UserError {
  readonly method: string;
  readonly path: string;
  /** The message without the next step, for messages that have a better one. */
  readonly summary: string;
  /** When the request was last sent, by this machine's clock; undefined if it never was. */
  sentAt: number | undefined;

  constructor(request: RequestName, what: string, next: string | undefined, options?: { cause?: unknown }) {
    const summary = `${request.method} ${oneLine(request.path, 300)}: ${oneLine(what)}`;
    super(next ? `${summary}. ${next}` : summary, options);
    this.summary = summary;
    this.method = request.method;
    this.path = request.path;
  }
}

const LEFT_OUT = "the service's text is left out, because it may repeat a secret";

/** What an ApiError needs besides the reply. */
interface Hints {
  keyIsConfigured: boolean;
  /** Whether the service's text is left out, because it may repeat a secret. */
  hidesText?: boolean | undefined;
}

/** The service, or a proxy before it, answered with a failure. */
export class ApiError extends EndpointsError {
  readonly status: number;
  /** The unchanged code, for decisions. */
  readonly code: string | undefined;
  readonly operationId: string | undefined;
  /** The wait that the service asks for with `Retry-After`, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(request: RequestName, failure: ServiceFailure, { keyIsConfigured, hidesText }: Hints) {
    const { status, code, message, retryAfter } = failure;
    const shown = (text = "", form: RegExp) => (!hidesText || form.test(text) ? oneLine(text, 100) : "");
    const operationId = shown(failure.operationId, OPERATION_ID);
    const text = hidesText || !message ? "" : oneLine(message).replace(/\.$/, "");
    const notes = [operationId && `operation ${operationId}`, hidesText && message && LEFT_OUT];
    const what = [shown(code, SERVICE_CODE), text].filter(Boolean).join(" ");
    const inBrackets = notes.filter(Boolean).join("; ");
    const next = remedyFor(failure, { keyIsConfigured });
    super(
      request,
      `status ${status}${what && `, ${what}`}${inBrackets && ` (${inBrackets})`}`,
      next && status >= 500 ? next + doubt(request) : next,
    );
    this.status = status;
    this.code = code;
    this.operationId = operationId || undefined;
    this.retryAfter = retryAfter;
  }
}

/** No reply came, or it broke off. */
export class ConnectionError extends EndpointsError {
  /** Whether the request may have been sent. If not, it had no effect. */
  readonly wentOut: boolean;
  /** Whether the base URL is an address of this machine on which nothing listens. */
  readonly isRefusedHere: boolean;

  constructor(
    request: RequestName,
    cause: unknown,
    { origin, wentOut }: { origin: string; wentOut: boolean },
  ) {
    const isHere = isRefusedHere(cause, origin);
    const step = isHere
      ? `Nothing listens on ${origin}: start the emulator (\`npx pulumi-endpoints emulator\`) or the service there, or correct endpoints:baseUrl (or ENDPOINTS_BASE_URL).`
      : `Check that ${origin} can be reached from here (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`;
    super(request, `no answer (${causeText(cause)})`, wentOut ? step + doubt(request) : step, { cause });
    this.wentOut = wentOut;
    this.isRefusedHere = isHere;
  }
}

/** A refused proxy of this machine has another port. */
function isRefusedHere(cause: unknown, origin: string): boolean {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error) || !("code" in first) || !("port" in first)) return false;
  const { hostname, port } = new URL(origin);
  const isLoopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);
  return isLoopback && first.code === "ECONNREFUSED" && String(first.port) === (port || "80");
}

/** A reply that breaks the contract: no JSON, or without required fields. */
export class ReplyError extends EndpointsError {
  constructor(
    request: RequestName,
    readonly status: number,
    what: string,
    /** The reply as data, if it is JSON. */
    readonly reply?: unknown,
  ) {
    const step =
      "Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API, and that no proxy answers in its place.";
    super(request, `status ${status}, but ${what}`, step + doubt(request));
  }
}

/** A create that was not sent because the engine has ended, so nothing would store its result. */
export class EngineGoneError extends EndpointsError {
  constructor(request: RequestName) {
    super(request, "not sent, since Pulumi has ended in the meantime", undefined);
  }
}

/** A request that had not been sent when the run was cancelled, or when its time was over. */
export class CancelledError extends EndpointsError {
  constructor(request: RequestName) {
    super(request, "not sent, since the run was cancelled", undefined);
  }
}

/** Whether this is a 404. It does not prove that an endpoint is gone: see `gone.ts`. */
export const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 404;

/** Whether the reply has an error code of the service's form. A reply without one may come from a proxy or a gateway. */
export const isOfService = ({ code }: ApiError): boolean => SERVICE_CODE.test(code ?? "");

/** The doubt that an unclear answer to a create leaves. */
function doubt({ method }: RequestName): string {
  if (method !== "POST") return "";
  return " The endpoint may have been created nevertheless. The next run finds it by its mark or names it, but in a pool without endpoints:mark look for it first.";
}

function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  // An error about several addresses contains one error for each.
  if (cause instanceof AggregateError && cause.errors.length > 0) return causeText(cause.errors[0]);
  return [code, cause.message].filter(Boolean).join(": ");
}
