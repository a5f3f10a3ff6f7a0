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

/**
 * The remedies that this package has, by the number of the error code: its status is only documented for a few. Of all other
 * codes, the service's page says what to do.
 */
const REMEDIES: Readonly<Record<number, string>> = {
  217: VERSION_HEADER,
  218: VERSION_HEADER,
  18004: "The update changes nothing for the service: run `pulumi refresh`, then run the command again.",
  18005:
    "The scheme of an endpoint cannot change in place: run `pulumi refresh`, then run the command again, to replace the endpoint.",
  18009: TAKEN,
  18016: TAKEN,
  18017: TAKEN,
};

/** Whether the service refused the content of a request with a code that does not name what is wrong with it. */
export function isUnexplained(failure: Pick<ServiceFailure, "status" | "code">): boolean {
  return [400, 409, 422].includes(failure.status) && [undefined, 18014].includes(codeNumber(failure));
}

/** What the user can do; undefined if the service's own message is the best advice. */
export function remedyFor(
  { status, code, retryAfter }: ServiceFailure,
  { keyIsConfigured }: { keyIsConfigured: boolean },
): string | undefined {
  const number = codeNumber({ code }) ?? 0;
  const remedy = REMEDIES[number];
  if (remedy) return remedy;
  // The service refuses keys with these codes, and a proxy without any.
  if ((status === 401 && number === 0) || (number >= 200 && number <= 208 && number !== 204)) {
    if (!keyIsConfigured) return "The API key was refused: put a valid one into ENDPOINTS_API_KEY.";
    return `The API key was refused: run \`pulumi config set --secret endpoints:apiKey <key>\`, or \`pulumi config rm endpoints:apiKey\` to use ENDPOINTS_API_KEY. After a change of the configuration, run \`pulumi refresh --run-program\` once: a plain refresh or destroy still uses the key of the last \`pulumi up\`.`;
  }
  if (status === 429 || number === 225 || number === 226) {
    const asked =
      retryAfter === undefined ? "" : `, and the service asks to wait ${Math.ceil(retryAfter / 1000)} s`;
    return `The account's rate limit is used up${asked}: wait a minute or longer, then run the command again.`;
  }
  if (status >= 500)
    return "The service failed: run the command again. If it fails again, give the operation id to the service's support.";
  if (status === 404)
    return "Check the id, and that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API, with its path prefix.";
  if (code?.startsWith("ERR_NGROK_") && number > 0)
    return `See https://ngrok.com/docs/errors/err_ngrok_${number}.`;
  if (status === 403)
    return "The API key lacks the permission: use a key with it, or ask for the permission.";
  if ([400, 409, 422].includes(status)) return "Correct the inputs, and run the command again.";
  if (status >= 300 && status < 400)
    return "endpoints:baseUrl (or ENDPOINTS_BASE_URL) must name the API itself, not an address that redirects to it.";
  return undefined;
}
