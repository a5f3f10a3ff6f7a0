/**
 * The errors that the emulator gives, with the public service's codes; `{}` stands for a word of the message. The service
 * documents a status for 218, 18016, 18017 and the list parameters (400), for 226 (429), and that an unknown id is a 404.
 * The other statuses are by kind: 401 for no credential, 403 for a wrong one, 400 for a bad request. 18009 was
 * never observed in public. Like the service, 201, 202 and 208 repeat the credential, so that a client that leaks it is caught.
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
  // Undocumented: no page gives the code of an unknown endpoint or path; this one was observed with a 404.
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
  18004: [400, "The update of the cloud endpoint changes nothing: give at least one field."],
  18005: [400, "The scheme of a cloud endpoint cannot change from {} to {}."],
  18006: [400, "No reserved domain or address of the account fits {}."],
  18009: [409, "There is already a cloud endpoint on {}."],
  18011: [400, "A traffic policy is required."],
  18012: [400, "The description of a cloud endpoint holds at most {} characters."],
  18013: [400, "The metadata of a cloud endpoint holds at most {} characters."],
  18014: [400, "The cloud endpoint's field `{}` is invalid: {}."],
  18015: [400, "The cloud endpoint lacks the required field `{}`."],
  18016: [400, "Pooling is enabled here, but not on the endpoint that is already on {}."],
  18017: [400, "Pooling is disabled here, and there is already an endpoint on {}."],
  18022: [400, "The cloud endpoint's URL `{}` needs a scheme: http, https, tls or tcp."],
  // An internal failure, and a method that a path does not have: codes of other parts of the service.
  20000: [500, "An internal error occurred in the emulator: {}."],
  27614: [405, "The method {} is not allowed here."],
} as const;

/** An answer that refuses. `new ServiceError(18009, url)`: the code, and the words that its message needs. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  private readonly coded: boolean = true;

  constructor(
    readonly code: keyof typeof table,
    ...words: (string | number)[]
  ) {
    const [status, message] = table[code];
    super(message.replace(/\{\}/g, () => `${words.shift()}`));
    this.status = status;
  }

  /** The same with another status, and without its code where `coded` is false. */
  withStatus(status: number, coded = true): this {
    return Object.assign(this, { status, coded });
  }

  /** The error as it travels. */
  answer(operationId: string) {
    const { status, message: msg } = this;
    const code = this.coded ? { error_code: `ERR_NGROK_${this.code}` } : {};
    return { status, body: { ...code, status_code: status, msg, details: { operation_id: operationId } } };
  }
}
