/**
 * The errors that the emulator gives, with the public service's codes. The service documents a status for 218,
 * 18016, 18017 and the list parameters (400), for 226 (429), and that an unknown id is a 404. The other statuses are
 * by kind: 401 for no credential, 403 for a wrong one, 400 for a bad request. 18009 has not been seen in public.
 */
const table = {
  200: [401, () => "No credentials: set the Authorization header to `Bearer <API key>`."],
  // The service repeats what it was sent in 201, 202 and 208. So does this, so that a client that leaks it is caught.
  201: [
    401,
    (value: string) => `Cannot parse the Authorization header \`${value}\`: expected \`Bearer <API key>\`.`,
  ],
  202: [401, (value: string) => `\`${value}\` does not look like an API key.`],
  203: [403, () => "There is no such API key."],
  204: [403, () => "The user of this API key may not list endpoints."],
  208: [403, (value: string) => `\`${value}\` is the id of an API key, not an API key.`],
  210: [400, (value: string) => `The content type \`${value}\` is not supported: send application/json.`],
  211: [400, (method: string) => `A ${method} request takes no body, but one was sent.`],
  212: [413, (most: string) => `The request's body could not be read: it is larger than ${most} bytes.`],
  213: [400, (reason: string) => `The request's body could not be parsed: ${reason}.`],
  214: [400, (field: string) => `The request's body has an unknown field \`${field}\`.`],
  215: [400, (field: string, want: string) => `The field \`${field}\` has a bad value: it must be ${want}.`],
  216: [400, () => "The request has a body and no Content-Type: send application/json."],
  217: [400, (value: string) => `The API version \`${value}\` is not supported. Supported versions: 2.`],
  218: [400, (header: string) => `No API version: set the header ${header}. Supported versions: 2.`],
  // Undocumented: no page gives the code of an unknown endpoint or path; this one has been seen with a 404.
  222: [404, (what: string) => `${what} was not found.`],
  226: [
    429,
    (requests: string, seconds: string) =>
      `The rate limit is exceeded: at most ${requests} requests in ${seconds} seconds.`,
  ],
  227: [400, (id: string) => `The id \`${id}\` is invalid: expected an id with the prefix \`ep_\`.`],
  230: [400, (reason: string) => `The query is invalid: ${reason}.`],
  231: [400, (name: string, known: string) => `Unknown query parameter \`${name}\`. Supported: ${known}.`],
  232: [400, (name: string) => `The query parameter \`${name}\` was given more than once.`],
  233: [400, (value: string, most: string) => `The page size must be from 1 to ${most}, not \`${value}\`.`],
  248: [
    400,
    (type: string) => `An endpoint of type \`${type}\` cannot be created here, only a cloud endpoint.`,
  ],
  249: [400, (url: string) => `\`${url}\` is not a URL.`],
  2236: [400, (reason: string) => `The traffic policy could not be parsed: ${reason}.`],
  15005: [400, (name: string) => `The binding \`${name}\` is invalid: use public, internal or kubernetes.`],
  15006: [400, (name: string) => `The binding \`${name}\` was given more than once.`],
  18001: [400, (url: string, reason: string) => `The cloud endpoint's URL \`${url}\` is invalid: ${reason}.`],
  18003: [400, (url: string) => `The cloud endpoint's URL \`${url}\` needs a port.`],
  18004: [400, () => "The update of the cloud endpoint changes nothing: give at least one field."],
  18005: [
    400,
    (from: string, to: string) => `The scheme of a cloud endpoint cannot change from ${from} to ${to}.`,
  ],
  18006: [400, (url: string) => `No reserved domain or address of the account fits ${url}.`],
  18009: [409, (url: string) => `There is already a cloud endpoint on ${url}.`],
  18011: [400, () => "A traffic policy is required."],
  18012: [400, (most: string) => `The description of a cloud endpoint holds at most ${most} characters.`],
  18013: [400, (most: string) => `The metadata of a cloud endpoint holds at most ${most} characters.`],
  18014: [
    400,
    (field: string, reason: string) => `The cloud endpoint's field \`${field}\` is invalid: ${reason}.`,
  ],
  18015: [400, (field: string) => `The cloud endpoint lacks the required field \`${field}\`.`],
  18016: [
    400,
    (url: string) => `Pooling is enabled here, but not on the endpoint that is already on ${url}.`,
  ],
  18017: [400, (url: string) => `Pooling is disabled here, and there is already an endpoint on ${url}.`],
  18022: [
    400,
    (url: string) => `The cloud endpoint's URL \`${url}\` needs a scheme: http, https, tls or tcp.`,
  ],
  // An internal failure, and a method that a path does not have: codes of other parts of the service.
  20000: [500, (reason: string) => `An internal error occurred in the emulator: ${reason}.`],
  27614: [405, (method: string) => `The method ${method} is not allowed here.`],
} as const;

type Table = typeof table;
type Words<Code extends keyof Table> = Parameters<Table[Code][1]>;

/** An answer that refuses. `new ServiceError(18009, url)`: the code, and the words that its message needs. */
export class ServiceError<Code extends keyof Table = keyof Table> extends Error {
  override readonly name = "ServiceError";
  status: number;
  private bare = false;
  /** Sent with the answer. */
  readonly headers: Record<string, string> = {};

  constructor(
    readonly code: Code,
    ...words: Words<Code>
  ) {
    const [status, message] = table[code];
    super((message as (...words: string[]) => string)(...words));
    this.status = status;
  }

  /** Under another status, and on request without its code. */
  seenAs(status: number, code?: "without its code"): this {
    this.status = status;
    this.bare = code !== undefined;
    return this;
  }

  /** The error as it travels. */
  body(operationId: string) {
    return {
      ...(this.bare ? {} : { error_code: `ERR_NGROK_${this.code}` }),
      status_code: this.status,
      msg: this.message,
      details: { operation_id: operationId },
    };
  }
}
