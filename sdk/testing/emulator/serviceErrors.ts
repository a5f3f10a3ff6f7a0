/**
 * The emulator's errors: the public service's code, the status and the message. Each `{}` is replaced by a value.
 *
 * The service documents the status 400 for 218, 18016, 18017 and the list parameters, 429 for 226, and 404 for an unknown
 * id. The emulator chooses the other statuses by their meaning: 401 without credentials, 403 for wrong credentials, 400 for
 * an invalid request. 18009 has never been observed in public. 201, 202 and 208 repeat the credentials, as they do on the
 * service, so that tests notice a client that logs them.
 */
const table = {
  200: [401, "No credentials: set the Authorization header to `Bearer <API key>`."],
  201: [401, "Cannot parse the Authorization header `{}`: expected `Bearer <API key>`."],
  202: [401, "`{}` does not look like an API key."],
  203: [403, "There is no such API key."],
  204: [403, "The user of this API key may not list endpoints."],
  208: [403, "`{}` is the id of an API key, not an API key."],
  210: [400, "The content type `{}` is not supported: send application/json."],
  211: [400, "A {} request takes no body, but one was sent."],
  212: [413, "The request's body could not be read: it is larger than {} bytes."],
  213: [400, "The request's body could not be parsed: {}."],
  214: [400, "The request's body has an unknown field `{}`."],
  215: [400, "The field `{}` has a bad value: it must be {}."],
  216: [400, "The request has a body and no Content-Type: send application/json."],
  217: [400, "The API version `{}` is not supported. Supported versions: 2."],
  218: [400, "No API version: set the header {}. Supported versions: 2."],
  // The code for an unknown endpoint or path is not documented. This one was observed with a 404.
  222: [404, "{} was not found."],
  226: [429, "The rate limit is exceeded: at most {} requests in {} seconds."],
  227: [400, "The id `{}` is invalid: expected an id with the prefix `ep_`."],
  230: [400, "The query is invalid: {}."],
  231: [400, "Unknown query parameter `{}`. Supported: {}."],
  232: [400, "The query parameter `{}` was given more than once."],
  233: [400, "The page size must be from 1 to {}, not `{}`."],
  248: [400, "An endpoint of type `{}` cannot be created here, only a cloud endpoint."],
  249: [400, "`{}` is not a URL."],
  2236: [400, "The traffic policy could not be parsed: {}."],
  15005: [400, "The binding `{}` is invalid: use public, internal or kubernetes."],
  15006: [400, "The binding `{}` was given more than once."],
  18001: [400, "The cloud endpoint's URL `{}` is invalid: {}."],
  18003: [400, "The cloud endpoint's URL `{}` needs a port."],
  18004: [400, "The update of the cloud endpoint is empty: give at least one field."],
  18005: [400, "The scheme of a cloud endpoint cannot change from {} to {}."],
  18009: [409, "There is already a cloud endpoint on {}."],
  18012: [400, "The description of a cloud endpoint holds at most {} characters."],
  18013: [400, "The metadata of a cloud endpoint holds at most {} characters."],
  18014: [400, "The cloud endpoint's field `{}` is invalid: {}."],
  18015: [400, "The cloud endpoint lacks the required field `{}`."],
  18016: [400, "Pooling is enabled here, but not on the endpoint that is already on {}."],
  18017: [400, "Pooling is disabled here, and there is already an endpoint on {}."],
  18022: [400, "The cloud endpoint's URL `{}` needs a scheme: http, https, tls or tcp."],
  // Codes from other parts of the service, for an internal error and for a method that the path does not support.
  20000: [500, "An internal error occurred in the emulator: {}."],
  27614: [405, "The method {} is not allowed here."],
} as const;

/** An error reply of the service: its code, and the values for its message, as in `new ServiceError(18009, url)`. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  private readonly coded: boolean = true;

  constructor(
    readonly code: keyof typeof table,
    ...values: (string | number)[]
  ) {
    const [status, message] = table[code];
    super(message.replace(/\{\}/g, () => `${values.shift()}`));
    this.status = status;
  }

  withStatus(status: number, coded = true): this {
    return Object.assign(this, { status, coded });
  }

  answer(operationId: string) {
    const { status, message: msg } = this;
    const code = this.coded ? { error_code: `ERR_NGROK_${this.code}` } : {};
    return { status, body: { ...code, status_code: status, msg, details: { operation_id: operationId } } };
  }
}
