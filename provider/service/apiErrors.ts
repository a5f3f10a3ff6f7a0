import { oneLine, UserError } from "../data/index";
import { see } from "./headings";
import { isLoopback } from "./url";

export { UserError };

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
  /** When the last attempt began, by this machine's clock; undefined if none did. */
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

/** A failure as the reply describes it. */
interface ServiceFailure {
  status: number;
  /** The service's error code, `ERR_NGROK_18009`. Undefined if the reply has none; then it may come from a proxy. */
  code?: string | undefined;
  message?: string | undefined;
  /** The request's id in the service's logs, `op_…`. */
  operationId?: string | undefined;
  /** The wait of a `Retry-After`, in milliseconds. */
  retryAfter?: number | undefined;
}

/** Where the key comes from: an explicit provider's argument, the stack's configuration, or the environment. */
export type KeySource = "argument" | "configuration" | "environment";

interface Hints {
  keySource: KeySource;
  /** Whether the service's text is left out, because it may repeat a secret. */
  hidesText?: boolean | undefined;
  /** Whether the request is about one endpoint, not about the list. */
  isOfEndpoint?: boolean;
  baseUrl?: string;
  /** Whether it changes the endpoint. */
  isChange?: boolean;
}

/** The service, or a proxy before it, answered with a failure. */
export class ApiError extends EndpointsError {
  readonly status: number;
  /** The unchanged code, for decisions. */
  readonly code: string | undefined;
  readonly operationId: string | undefined;
  /** The wait that the service asks for with `Retry-After`, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(request: RequestName, failure: ServiceFailure, hints: Hints) {
    const { status, code, message, retryAfter } = failure;
    const { hidesText } = hints;
    const shown = (text = "", form: RegExp) => (!hidesText || form.test(text) ? oneLine(text, 100) : "");
    const operationId = shown(failure.operationId, OPERATION_ID);
    const text = hidesText || !message ? "" : oneLine(message).replace(/\.$/, "");
    const notes = [operationId && `operation ${operationId}`, hidesText && message && LEFT_OUT];
    const what = [shown(code, SERVICE_CODE), text].filter(Boolean).join(" ");
    const inBrackets = notes.filter(Boolean).join("; ");
    const isOfEndpoint = request.path.startsWith("/endpoints/");
    const next = remedyFor(failure, { ...hints, isOfEndpoint, isChange: request.method === "PATCH" });
    super(
      request,
      `status ${status}${what && `, ${what}`}${inBrackets && ` (${inBrackets})`}`,
      // A gateway may have answered after the service took the request.
      status >= 500 || !SERVICE_CODE.test(code ?? "") ? `${next ?? ""}${createNote(request)}`.trim() : next,
    );
    this.status = status;
    this.code = code;
    this.operationId = operationId || undefined;
    this.retryAfter = retryAfter;
  }
}

/** The number in the service's error code, `18009` in `ERR_NGROK_18009`; undefined if there is none. */
export const codeNumber = ({ code }: Pick<ServiceFailure, "code">): number | undefined =>
  /_\d+$/.test(code ?? "") ? Number(/\d+$/.exec(code ?? "")) : undefined;

const VERSION_HEADER_REMEDY =
  "The service expects its version header under another name: set endpoints:versionHeader (or ENDPOINTS_VERSION_HEADER).";
const TAKEN = `Another endpoint has this URL: choose another url. ${see("A URL that is taken")}`;

/** `url` and `poolingEnabled` may be fixed: the public service's page on pooling says so, but its other clients send changes. */
const CHANGE_REMEDY = `Correct the inputs, and run the command again. Some services never change url or poolingEnabled of an endpoint. ${see("A change that the service ignores")}`;

/**
 * The remedies by the number of the error code, because the status is only documented for a few codes. For all other codes, the
 * service's page says what to do.
 */
const REMEDIES: Readonly<Record<number, string>> = {
  217: VERSION_HEADER_REMEDY,
  218: VERSION_HEADER_REMEDY,
  18004: "The update changes nothing for the service: run `pulumi refresh`, then run the command again.",
  18005:
    "The scheme of an endpoint cannot change in place: run `pulumi refresh`, then run the command again, to replace the endpoint.",
  18006: `Nothing is reserved for this URL: reserve its domain or address, or correct url. ${see("Both in one program")}`,
  18009: TAKEN,
  18011: "The service creates no cloud endpoint without a policy: give trafficPolicy.",
  18015:
    "A field is missing, as the service's text says. On the public service that is often trafficPolicy: give one.",
  18016: TAKEN,
  18017: TAKEN,
};

/** What the user can do; undefined if the service's own message is the best advice. */
export function remedyFor({ status, code, retryAfter }: ServiceFailure, hints: Hints): string | undefined {
  const number = codeNumber({ code }) ?? 0;
  const remedy = REMEDIES[number];
  if (remedy) return remedy;
  // The service refuses keys with these codes, and a proxy without any.
  if ((status === 401 && number === 0) || (number >= 200 && number <= 208 && number !== 204)) {
    if (hints.keySource === "argument")
      return "The API key was refused: correct the argument apiKey of the resource's provider.";
    if (hints.keySource === "environment")
      return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey\`, or remove it to use ENDPOINTS_API_KEY. Then run \`pulumi refresh --run-program\` once.`;
  }
  if (status === 429 || number === 225 || number === 226) {
    const wait = retryAfter === undefined ? "a minute or longer" : `${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up: wait ${wait}, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again. If it fails again, give the operation id to the service's support.";
  if (status === 404 || (status >= 300 && status < 400)) {
    const now = hints.baseUrl === undefined ? "" : ` (now ${hints.baseUrl})`;
    const place = `that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API itself, with its path prefix${now}`;
    return hints.isOfEndpoint ? `Check the id, and ${place}.` : `Check ${place}.`;
  }
  const isAboutInputs = [400, 409, 422].includes(status);
  // These codes do not explain the refusal of a change.
  if (isAboutInputs && hints.isChange && (number === 0 || number === 18014)) return CHANGE_REMEDY;
  if (code?.startsWith("ERR_NGROK_") && number > 0)
    return `See https://ngrok.com/docs/errors/err_ngrok_${number}.`;
  if (status === 403) return "The API key lacks the permission: use a key that has it.";
  if (isAboutInputs && !hints.isOfEndpoint)
    return "Correct the inputs, and run the command again. If another endpoint has the URL, choose another url.";
  const hasInputs = hints.isChange || !hints.isOfEndpoint;
  return hints.hidesText && hasInputs ? "Correct the inputs, and run the command again." : undefined;
}

/** No reply came, or it broke off. */
export class ConnectionError extends EndpointsError {
  /** Whether the request may have been sent. If not, it had no effect. */
  readonly maybeSent: boolean;
  /** Whether only a change of the setup helps: nothing listens on this machine's address, or TLS fails. */
  readonly isSetupProblem: boolean;

  constructor(
    request: RequestName,
    cause: unknown,
    { origin, maybeSent }: { origin: string; maybeSent: boolean },
  ) {
    // An error about several addresses contains one error for each.
    const first: unknown = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
    const setup = isLocalRefusal(first, origin)
      ? `Nothing listens on ${origin}: start the emulator (\`npx pulumi-endpoints emulator\`) or the service there, or correct endpoints:baseUrl (or ENDPOINTS_BASE_URL).`
      : remedyForTls(first, origin);
    const step =
      setup ??
      `Check that ${origin} can be reached from here (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`;
    super(request, `no answer (${textOf(first)})`, maybeSent ? step + createNote(request) : step, { cause });
    this.maybeSent = maybeSent;
    this.isSetupProblem = setup !== undefined;
  }
}

/** Whether nothing listens on the origin. The port is compared, because a proxy on this machine may have refused instead. */
function isLocalRefusal(cause: unknown, origin: string): boolean {
  if (!(cause instanceof Error) || !("code" in cause) || !("port" in cause)) return false;
  const { protocol, hostname, port } = new URL(origin);
  const originPort = port || (protocol === "https:" ? "443" : "80");
  return isLoopback(hostname) && cause.code === "ECONNREFUSED" && String(cause.port) === originPort;
}

const UNTRUSTED_REMEDY =
  "The certificate is signed by an authority that Node.js does not know: put the authority's certificate into a file, and its path into NODE_EXTRA_CA_CERTS.";

/** The remedies of failures in TLS, by the code of Node.js. */
const TLS_REMEDIES: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED_REMEDY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED_REMEDY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED_REMEDY,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED_REMEDY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED_REMEDY,
  CERT_HAS_EXPIRED:
    "The certificate has expired: renew it on the server, or correct the clock of this machine.",
  CERT_NOT_YET_VALID: "The certificate is not valid yet: correct the clock of this machine.",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The certificate is for another host: correct the host in endpoints:baseUrl (or ENDPOINTS_BASE_URL).",
  ERR_SSL_WRONG_VERSION_NUMBER:
    "The server does not speak TLS on this port: correct the scheme or the port in endpoints:baseUrl (or ENDPOINTS_BASE_URL), or in HTTPS_PROXY, for a proxy without TLS.",
};

function remedyForTls(cause: unknown, origin: string): string | undefined {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const remedy = Object.hasOwn(TLS_REMEDIES, code) ? TLS_REMEDIES[code] : undefined;
  return remedy && `${origin}: ${remedy}`;
}

/** A reply that breaks the contract: no JSON, or without required fields. */
export class ReplyError extends EndpointsError {
  constructor(
    request: RequestName,
    readonly status: number,
    what: string,
  ) {
    const step =
      "Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API, and that no proxy answers in its place.";
    super(request, `status ${status}, but ${what}`, step + createNote(request));
  }
}

/** A request that was not sent. */
export class UnsentError extends EndpointsError {
  constructor(request: RequestName, why: string) {
    super(request, `not sent, since ${why}`, undefined);
  }
}

/** Whether this is a 404. It does not prove that an endpoint is gone: see `gone.ts`. */
export const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 404;

/** For `catch` of a read that may find nothing. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Whether the reply has an error code of the service's form. A reply without one may come from a proxy or a gateway. */
export const hasServiceCode = ({ code }: ApiError): boolean => SERVICE_CODE.test(code ?? "");

/** Whether this is the service's own 404. A gateway's proves nothing. */
export const isService404 = (error: unknown): error is ApiError => isNotFound(error) && hasServiceCode(error);

/** The note in the errors of a create that may have had an effect. */
function createNote({ method }: RequestName): string {
  if (method !== "POST") return "";
  return " The endpoint may exist nevertheless: in a pool, look before the next run.";
}

function textOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return [code, cause.message].filter(Boolean).join(": ");
}
