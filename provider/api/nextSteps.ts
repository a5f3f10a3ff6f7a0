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
const BINDINGS_STEP =
  "Correct bindings: the service knows public, internal and kubernetes, and an endpoint has one of them.";
const URL_STEP = "Correct url: the service takes addresses such as https://shop.example.com.";
const UNEXPLAINED_STEP = "Correct the inputs, then run the command again.";
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
  2256: "Change the account's plan, or remove the actions from trafficPolicy that it does not include.",
  2263: "Change the account's plan, or remove the parts of trafficPolicy that need a paid plan.",
  2264: "Use fewer rules in trafficPolicy, or change the account's plan.",
  2265: "Use fewer expressions or actions in each rule of trafficPolicy, or change the account's plan.",
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
  249: URL_STEP,
  15005: BINDINGS_STEP,
  18001: URL_STEP,
  18003: "Give url a port: the service knows none for its scheme.",
  18004: "The update changes nothing for the service: run `pulumi refresh`, then run the command again.",
  18005:
    "The scheme of an endpoint cannot change in place: run `pulumi refresh`, then run the command again, to replace the endpoint.",
  18006: "Reserve the domain (or the TCP address) with the service first.",
  18007: BINDINGS_STEP,
  18009: TAKEN_STEP,
  18011: "Give trafficPolicy: this service requires one on every cloud endpoint.",
  18012: "Shorten description to 255 characters.",
  18013: "Shorten metadata to 4096 characters.",
  18014: UNEXPLAINED_STEP,
  18015: "If trafficPolicy is missing, give one: the public service requires it.",
  18016: "The existing endpoint does not share its URL: set poolingEnabled on it first.",
  18017: TAKEN_STEP,
  18018: "An endpoint with the binding kubernetes takes http, tls or tcp: change url, or bindings.",
  18022: "Give url a scheme: http, https, tcp or tls.",
  18023: "Public endpoints use port 80 (http) or 443 (https, tls): remove the port from url.",
};

/** What is wrong with a policy, by the number of the error code. */
const POLICY_MISTAKES: Readonly<Record<number, string>> = {
  2200: "an expression does not compile",
  2201: "the service does not know the type of an action",
  2202: "an action is in a phase that does not support it",
  2203: "the config of an action cannot be read",
  2204: "the config of an action has an invalid value",
  2205: "an action does not support the protocol of url",
  2206: "it has no action",
  2207: "an action never runs, because an action before it always answers",
  2208: "a name, such as that of a header, is too long",
  2209: "a value, such as that of a header, is too long",
  2210: "a name, such as that of a header, is invalid",
  2211: "a value, such as that of a header, is invalid",
  2212: "an action has too many headers",
  2213: "a template in the headers of add-headers is invalid",
  2214: "the service does not know an algorithm of compress-response",
  2215: "a number in the config of an action is too small or too large",
  2216: "the service does not know an IP policy that it refers to",
  2217: "an IP range is not in CIDR notation",
  2218: "a list has too many entries",
  2219: "it has a field that only the service sets",
  2221: "a text or list in the config of an action is too long",
  2222: "a value in the config of an action is none of the possible ones",
  2223: "a value in the config of an action is empty",
  2224: "an interpolated expression does not compile",
  2225: "a duration in the config of an action is too long",
  2226: "a value in the config of an action must be a URL",
  2227: "the issuer of an action serves no OpenID Connect discovery document",
  2228: "a value in the config of an action cannot be parsed",
  2229: "the service has no policies for the protocol of url",
  2230: "the protocol of url does not have one of the phases",
  2231: "a list in the config of an action has duplicates",
  2232: "the config of an action cannot be resolved",
  2233: "the config of an action cannot be compiled",
  2234: "the config of an action lacks a required key",
  2236: "it cannot be parsed",
  2237: "a text or list in the config of an action is too short",
  2239: "an endpoint can only have one action that authenticates users",
  2240: "the config of an action has a key that requires another one",
  2241: "an action uses a domain that does not belong to the endpoint",
  2242: "the config of an action has a domain with invalid Punycode",
  2243: "the config of an action has an invalid domain",
  2244: "the config of an action has too many query parameters",
  2245: "a key in the config of an action is too long",
  2246: "a key in the config of an action is too long",
  2249: "an action needs too much memory",
  2250: "variables are nested too deeply",
  2251: "set-vars must not use variables that another set-vars has set",
  2252: "vars of set-vars must be a list of objects with one key each",
  2255: "the config of an action has too many entries",
  2257: "a user name of basic-auth is invalid",
  2258: "a password of basic-auth is invalid",
  2261: "a regular expression in the config of an action is invalid",
  2262: "internal http and https endpoints have no phase on_tcp_connect",
};

const isOfPolicy = (number: number) => number === 18002 || (number >= 2200 && number <= 2299);

/** Whether the service refused the content of a request with a code that does not name what is wrong with it. */
export function isUnexplained({ status, code }: Pick<ServiceFailure, "status" | "code">): boolean {
  const number = codeNumber({ code }) ?? 0;
  const isExplained = isOfPolicy(number) || ![undefined, UNEXPLAINED_STEP].includes(STEPS[number]);
  return [400, 409, 422].includes(status) && !isExplained;
}

/**
 * What the user can do; undefined if the service's own message is the best advice.
 *
 * @param isOfEndpoint Whether the request was about one endpoint, by its id.
 */
export function nextStep(
  { status, code, retryAfter }: ServiceFailure,
  { keyIsConfigured, isOfEndpoint = true }: { keyIsConfigured: boolean; isOfEndpoint?: boolean },
) {
  const number = codeNumber({ code }) ?? 0;
  const step = STEPS[number];
  if (step) return step;
  if (isOfPolicy(number)) {
    const mistake = POLICY_MISTAKES[number];
    return mistake === undefined ? "Correct trafficPolicy." : `Correct trafficPolicy: ${mistake}.`;
  }
  if (status === 401 || (number >= 200 && number <= 208)) {
    if (!keyIsConfigured) return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey <key>\`, or \`pulumi config rm endpoints:apiKey\` to use ENDPOINTS_API_KEY. After a change of the configuration, run \`pulumi refresh --run-program\` once: a plain refresh or destroy still uses the key of the last \`pulumi up\`.`;
  }
  if (status === 403)
    return "The API key lacks the permission: use a key with it, or ask for the permission.";
  if (status === 429 || number === 225 || number === 226) {
    const asked =
      retryAfter === undefined ? "" : `, and the service asks to wait ${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up${asked}: wait a minute or longer, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again. If it fails again, give the operation id to the service's support.";
  if (status === 409 || (code === undefined && (status === 400 || status === 422)))
    return "Run the command again; if another endpoint has the URL, choose another url, or delete that endpoint.";
  if (status === 400 || status === 422) return UNEXPLAINED_STEP;
  if (status === 404 && !isOfEndpoint)
    return "Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API, with its path prefix.";
  if (status === 404) return "Check the id and endpoints:baseUrl (or ENDPOINTS_BASE_URL).";
  if (status >= 300 && status < 400)
    return "endpoints:baseUrl (or ENDPOINTS_BASE_URL) must name the API itself, not an address that redirects to it.";
  return undefined;
}
