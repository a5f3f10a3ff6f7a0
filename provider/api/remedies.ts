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

const VERSION_HEADER =
  "The service expects its version header under another name: set endpoints:versionHeader (or ENDPOINTS_VERSION_HEADER).";
const TAKEN =
  "Another endpoint has this URL: choose another url, set poolingEnabled on both to share it, or delete the other endpoint.";
/** It is not certain that these change: the public service's page on pooling says no, its other clients send them. */
const CHANGE =
  "Correct the inputs, and run the command again. If the service never changes url or poolingEnabled of an existing endpoint, give the program the live value, or replace the endpoint: `pulumi up --replace` with the resource's URN.";
const POLICY = "Give trafficPolicy an action that answers: forward-internal, custom-response or deny.";

/**
 * The remedies in terms of this package, by the number of the error code: its status is only documented for a few. Of all other
 * codes, the service's page says what to do.
 */
const REMEDIES: Readonly<Record<number, string>> = {
  217: VERSION_HEADER,
  218: VERSION_HEADER,
  2235: POLICY,
  18004: "The update changes nothing for the service: run `pulumi refresh`, then run the command again.",
  18005:
    "The scheme of an endpoint cannot change in place: run `pulumi refresh`, then run the command again, to replace the endpoint.",
  18006: "Reserve the domain (or the TCP address) with the service first.",
  18009: TAKEN,
  18011: POLICY,
  18015: POLICY,
  18016: "The existing endpoint does not share its URL: set poolingEnabled on it first.",
  18017: TAKEN,
};

/** The service's page of an error code. */
const pageOf = (number: number): string => `https://ngrok.com/docs/errors/err_ngrok_${number}`;

/**
 * What the user can do; undefined if the service's own message is the best advice.
 *
 * @param isOfEndpoint Whether the request was about one endpoint, by its id.
 */
export function remedyFor(
  { status, code, retryAfter }: ServiceFailure,
  { keyIsConfigured, isOfEndpoint = true }: { keyIsConfigured: boolean; isOfEndpoint?: boolean },
): string | undefined {
  const number = codeNumber({ code }) ?? 0;
  const remedy = REMEDIES[number];
  if (remedy) return remedy;
  if (number === 18002 || (number >= 2200 && number <= 2299))
    return `Correct trafficPolicy (see ${pageOf(number)}).`;
  // The service refuses keys with these codes, and a proxy without any.
  if ((status === 401 && number === 0) || (number >= 200 && number <= 208 && number !== 204)) {
    if (!keyIsConfigured) return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey <key>\`, or \`pulumi config rm endpoints:apiKey\` to use ENDPOINTS_API_KEY. Then run \`pulumi refresh --run-program\` once: a plain refresh or destroy still uses the key of the last \`pulumi up\`.`;
  }
  if (status === 429 || number === 225 || number === 226) {
    const asked =
      retryAfter === undefined ? "" : `, and the service asks to wait ${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up${asked}: wait a minute or longer, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again. If it fails again, give the operation id to the service's support.";
  if (status === 404 && isOfEndpoint) return "Check the id and endpoints:baseUrl (or ENDPOINTS_BASE_URL).";
  const isOfContent = [400, 409, 422].includes(status);
  // These codes do not explain the refusal of a change.
  if (isOfContent && isOfEndpoint && (number === 0 || number === 18014)) return CHANGE;
  if (code?.startsWith("ERR_NGROK_") && number > 0) return `See ${pageOf(number)}.`;
  if (status === 403) return "The API key lacks the permission: use a key that has it.";
  if (isOfContent)
    return "Correct the inputs, and run the command again. If another endpoint has the URL, choose another url, or delete that endpoint.";
  if (status === 404)
    return "Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API, with its path prefix.";
  if (status >= 300 && status < 400)
    return "endpoints:baseUrl (or ENDPOINTS_BASE_URL) must name the API itself, not an address that redirects to it.";
  return undefined;
}
