/** An error whose message the user can act on: one line, with the next step. */
export abstract class UserError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Characters that are invisible, that move the text around them, or that are unassigned. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Surrogate}]/gu;

/** The start of a command that a pipeline executes wherever a log contains it: `##[…]`, `##vso[…]`. */
export const PIPELINE_COMMAND = /(?<=#)#(?=\w*\[)/g;

const asEscape = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Foreign text with escapes for invisible characters and commands of a pipeline. */
export const escaped = (text: string): string =>
  text.replace(INVISIBLE, asEscape).replace(PIPELINE_COMMAND, asEscape);

/** Foreign text for a message: one line of well-formed characters, of limited length. */
export function plain(text: string, most = 2000): string {
  // Cut first, because the other steps take time linear in the text.
  const short = text.slice(0, most * 2).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
  const line = escaped(short.trim());
  return line.length > most ? `${line.slice(0, most).replace(/\p{Surrogate}$/u, "")}…` : line;
}

/** The name of a request in messages and traces. Contains nothing secret. */
export interface RequestName {
  method: string;
  /** The path below the base URL. */
  path: string;
}

/** The form of the service's error codes. Text of another form may contain anything. */
const SERVICE_CODE = /^ERR_[A-Z]+_\d+$/;

/** Every failure of a request. `message` is one line: what failed, the service's reply, what to do next. */
export abstract class EndpointsError extends UserError {
  readonly method: string;
  readonly path: string;
  /** The message without the next step, for messages that have a better one. */
  readonly summary: string;
  /** When the request was last sent, by this machine's clock; undefined if it never was. */
  sentAt: number | undefined;

  constructor(request: RequestName, what: string, next: string | undefined, options?: { cause?: unknown }) {
    const summary = `${request.method} ${plain(request.path, 300)}: ${plain(what)}`;
    super(next ? `${summary}. ${next}` : summary, options);
    this.summary = summary;
    this.method = request.method;
    this.path = request.path;
  }
}

export interface ServiceFailure {
  status: number;
  /** The service's error code, `ERR_NGROK_18009`. Undefined if the reply has none; then it may come from a proxy. */
  code: string | undefined;
  message: string | undefined;
  /** The request's id in the service's logs, `op_…`. */
  operationId: string | undefined;
  /** The wait of a `Retry-After`, in milliseconds. */
  retryAfter?: number | undefined;
}

/** What an ApiError needs besides the reply. */
interface Hints {
  keyIsConfigured: boolean;
  /** Removes secrets from the service's texts. */
  cleaned(text: string): string;
}

/** The service, or a proxy before it, answered with a failure. */
export class ApiError extends EndpointsError {
  readonly status: number;
  /** The unchanged code, for decisions. */
  readonly code: string | undefined;
  /** The code without secrets, for messages. */
  readonly shownCode: string | undefined;
  readonly operationId: string | undefined;

  constructor(request: RequestName, failure: ServiceFailure, hints: Hints) {
    const { status, code } = failure;
    const [shownCode, message, operationId] = [code, failure.message, failure.operationId].map(
      (text) => text && hints.cleaned(text),
    );
    const said = [shownCode && plain(shownCode, 100), message && withoutStop(message)]
      .filter(Boolean)
      .join(" ");
    const operation = operationId ? ` (operation ${plain(operationId, 100)})` : "";
    const next = nextStep(failure, hints);
    const doubtful = status >= 500 ? doubt(request) : "";
    super(request, `status ${status}${said && `, ${said}`}${operation}`, next && next + doubtful);
    this.status = status;
    this.code = code && SERVICE_CODE.test(code) ? code : shownCode;
    this.shownCode = shownCode;
    this.operationId = operationId;
  }
}

/** No reply came, or it broke off. */
export class ConnectionError extends EndpointsError {
  constructor(
    request: RequestName,
    cause: unknown,
    origin: string,
    /** Whether the request may have been sent. If not, it had no effect. */
    readonly wentOut: boolean,
  ) {
    const step = `Check that ${origin} can be reached from here (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`;
    super(request, `no answer (${reasonOf(cause)})`, wentOut ? step + doubt(request) : step, { cause });
  }
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

/** A request that had not been sent when the run was cancelled. */
export class CancelledError extends EndpointsError {
  constructor(request: RequestName) {
    super(request, "not sent, since the run was cancelled", undefined);
  }
}

/** An id that no endpoint can have. No request is made for it. */
export class InvalidIdError extends UserError {
  constructor(id: string) {
    super(`${JSON.stringify(plain(id, 100))} is no id of an endpoint; give one such as ep_2abc.`);
  }
}

/** Whether this is a 404. It does not prove that an endpoint is gone: see `gone.ts`. */
export const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 404;

/** Whether the reply has an error code of the service's form. A reply without one may come from a proxy or a gateway. */
export const isOfService = ({ code }: ApiError): boolean => /^ERR_[A-Z]+_\d+$/.test(code ?? "");

/** The number in the service's error code, `18009` in `ERR_NGROK_18009`; undefined if there is none. */
export const codeNumber = ({ code }: Pick<ServiceFailure, "code">): number | undefined =>
  /_\d+$/.test(code ?? "") ? Number(/\d+$/.exec(code ?? "")) : undefined;

const VERSION_HEADER_STEP =
  "The service expects its version header under another name: set endpoints:versionHeader (or ENDPOINTS_VERSION_HEADER).";
const POLICY_STEP = "Correct trafficPolicy.";
const TAKEN_STEP =
  "An endpoint with this URL exists: set adopt to take it over, poolingEnabled on all of them to share the URL, or delete it.";

/**
 * The next step by the number of the error code. It does not depend on the status, which the service only documents for a few
 * codes.
 */
const STEPS: Readonly<Record<number, string>> = {
  // The account and its plan. No change to the program helps with 204 and 220.
  204: "The service does not let this account, or the user of this key, use its API: ask the account's administrator or the service's support.",
  220: "The account restricts its API to certain IP addresses: run the command from one of them, or add this machine's address to the account's IP restrictions.",
  2256: "Change the account's plan, or take the action that the service names out of trafficPolicy.",
  2263: "Change the account's plan, or take what needs a paid plan out of trafficPolicy.",
  2264: "Give trafficPolicy fewer rules, or change the account's plan.",
  2265: "Shorten the rule of trafficPolicy that the service names, or change the account's plan.",
  18008:
    "The account's plan has no cloud endpoints: change it (Pay-as-you-go has them), or use a key of another account.",
  18010: "The account has as many cloud endpoints as it may have: delete one, or change the account's plan.",
  18019: "The account's plan has no pooling: change it (Pay-as-you-go has it), or take poolingEnabled out.",
  18020: "The pool of this URL is full: delete one of its endpoints, or ask the service for a higher limit.",
  18021:
    "The account has as many endpoints online as it may have, those of agents included: stop or delete one, or change the account's plan.",

  // The request and the inputs.
  217: VERSION_HEADER_STEP,
  218: VERSION_HEADER_STEP,
  2235: "Add an action that answers to trafficPolicy: forward-internal, custom-response or deny.",
  15005:
    "Correct bindings: the service knows public, internal and kubernetes, and an endpoint has one of them.",
  18002: POLICY_STEP,
  18006: "Reserve the domain (or the TCP address) with the service first.",
  18009: TAKEN_STEP,
  18011: "Give trafficPolicy: this service requires one on every cloud endpoint.",
  18015: "If trafficPolicy is missing, give one: the public service requires it.",
  18016: "The existing endpoint does not share its URL: set poolingEnabled on it first.",
  18017: TAKEN_STEP,
  18018: "An endpoint with the binding kubernetes takes http, tls or tcp: change url, or bindings.",
};

/** What the user can do; undefined if the service's own message is the best advice. */
function nextStep(
  { status, code, retryAfter }: ServiceFailure,
  { keyIsConfigured }: { keyIsConfigured: boolean },
) {
  const number = codeNumber({ code }) ?? 0;
  const step = STEPS[number];
  if (step) return step;
  if (status === 401 || (number >= 200 && number <= 208)) {
    if (!keyIsConfigured) return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey <key>\`, or \`pulumi config rm endpoints:apiKey\` to use ENDPOINTS_API_KEY; after a change of the configuration, run \`pulumi refresh --run-program\` once, since a plain refresh or destroy still uses the key of the last \`pulumi up\`.`;
  }
  if (status === 403)
    return "The API key may not do this: use one whose owner may, or ask for the permission.";
  if (number >= 2200 && number <= 2299) return POLICY_STEP;
  if (status === 429) {
    const asked =
      retryAfter === undefined ? "" : `, and the service asks to wait ${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up${asked}: wait a minute or longer, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again, and give the operation id if it stays.";
  if (status === 409 || (code === undefined && (status === 400 || status === 422)))
    return "Run the command again; if another endpoint has the URL, set adopt to take it over, or choose another url.";
  if (status === 400 || status === 422) return "Correct what the service names, then run the command again.";
  if (status === 404) return "Check the id and endpoints:baseUrl (or ENDPOINTS_BASE_URL).";
  if (status >= 300 && status < 400)
    return "endpoints:baseUrl (or ENDPOINTS_BASE_URL) must name the API itself, not an address that redirects to it.";
  return undefined;
}

/** The doubt that an unclear answer to a create leaves. */
function doubt({ method }: RequestName): string {
  if (method !== "POST") return "";
  return " The endpoint may have been created nevertheless: then the next run names it, and how to take it over.";
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  // An error about several addresses contains one error for each.
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return [code, cause.message].filter(Boolean).join(": ");
}

const withoutStop = (text: string) => plain(text).replace(/\.$/, "");
