/** A failure as the reply describes it. */
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

/** The number in the service's error code, `18009` in `ERR_NGROK_18009`; undefined if there is none. */
export const codeNumber = ({ code }: Pick<ServiceFailure, "code">): number | undefined =>
  /_\d+$/.test(code ?? "") ? Number(/\d+$/.exec(code ?? "")) : undefined;

const VERSION_HEADER_STEP =
  "The service expects its version header under another name: set endpoints:versionHeader (or ENDPOINTS_VERSION_HEADER).";
const POLICY_STEP = "Correct trafficPolicy.";
const TAKEN_STEP =
  "Another endpoint has this URL: choose another url, set poolingEnabled on both to share it, or delete the other endpoint.";

/**
 * The next step by the number of the error code. It does not depend on the status, which the service only documents for a few
 * codes.
 */
const STEPS: Readonly<Record<number, string>> = {
  // The account and its plan. No change to the program helps with 204 and 220.
  204: "The service does not let this account, or the user of this key, use its API: ask the account's administrator or the service's support.",
  220: "The account restricts its API to certain IP addresses: run the command from one of them, or add this machine's address to the account's IP restrictions.",
  2256: "Change the account's plan, or remove the action that the service names from trafficPolicy.",
  2263: "Change the account's plan, or remove the parts of trafficPolicy that need a paid plan.",
  2264: "Use fewer rules in trafficPolicy, or change the account's plan.",
  2265: "Shorten the rule of trafficPolicy that the service names, or change the account's plan.",
  18008:
    "The account's plan has no cloud endpoints: change it (Pay-as-you-go has them), or use a key of another account.",
  18010: "The account has reached its limit of cloud endpoints: delete one, or change the account's plan.",
  18019: "The account's plan has no pooling: change it (Pay-as-you-go has it), or remove poolingEnabled.",
  18020: "The pool of this URL is full: delete one of its endpoints, or ask the service for a higher limit.",
  18021:
    "The account has reached its limit of online endpoints, including those of agents: stop or delete one, or change the account's plan.",

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
  18023: "Public endpoints use port 80 (http) or 443 (https, tls): remove the port from url.",
};

/** Whether the service refused the content of a request with a code that does not name what is wrong with it. */
export function isUnexplained({ status, code }: Pick<ServiceFailure, "status" | "code">): boolean {
  const number = codeNumber({ code }) ?? 0;
  const isPolicys = number >= 2200 && number <= 2299;
  return [400, 409, 422].includes(status) && STEPS[number] === undefined && !isPolicys;
}

/** What the user can do; undefined if the service's own message is the best advice. */
export function nextStep(
  { status, code, retryAfter }: ServiceFailure,
  { keyIsConfigured }: { keyIsConfigured: boolean },
) {
  const number = codeNumber({ code }) ?? 0;
  const step = STEPS[number];
  if (step) return step;
  if (status === 401 || (number >= 200 && number <= 208)) {
    if (!keyIsConfigured) return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey <key>\`, or \`pulumi config rm endpoints:apiKey\` to use ENDPOINTS_API_KEY. After a change of the configuration, run \`pulumi refresh --run-program\` once: a plain refresh or destroy still uses the key of the last \`pulumi up\`.`;
  }
  if (status === 403)
    return "The API key lacks the permission: use a key with it, or ask for the permission.";
  if (number >= 2200 && number <= 2299) return POLICY_STEP;
  if (status === 429) {
    const asked =
      retryAfter === undefined ? "" : `, and the service asks to wait ${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up${asked}: wait a minute or longer, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again. If it fails again, give the operation id to the service's support.";
  if (status === 409 || (code === undefined && (status === 400 || status === 422)))
    return "Run the command again; if another endpoint has the URL, choose another url, or delete that endpoint.";
  if (status === 400 || status === 422)
    return "Correct the mistake that the service names, then run the command again.";
  if (status === 404) return "Check the id and endpoints:baseUrl (or ENDPOINTS_BASE_URL).";
  if (status >= 300 && status < 400)
    return "endpoints:baseUrl (or ENDPOINTS_BASE_URL) must name the API itself, not an address that redirects to it.";
  return undefined;
}
