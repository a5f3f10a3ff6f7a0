import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { ConnectionError, EndpointsError, ReplyError, type RequestName } from "./apiErrors";

/** More than the largest page that the service can mean (100 endpoints); a reply beyond it is not read to its end. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A shorter key, as tests have them, can stand in a good reply by chance. The service's keys have 49 characters. */
const SHORTEST_KEY = 16;

/** Loaded where the first request is made, since most of a preview makes none. An import would take half as long again. */
const undici = (): typeof import("undici") => require("undici");

/** What a client has to know of the service and of itself. Times in seconds. */
export interface ClientSettings {
  /** The key. It is sent to the base URL's origin and nowhere else. */
  apiKey: string;
  /** Whether the key came from the stack's configuration: a refused one then has a remedy of its own. */
  apiKeyIsConfigured: boolean;
  /** With its path prefix, without a slash at the end. */
  baseUrl: string;
  /** The name of the header that carries the version of the API. */
  versionHeader: string;
  userAgent: string;
  /** For a connection, a reply's head, and between parts of its body: each. */
  timeoutSeconds: number;
  /** How long faults that pass are tried again. */
  retryForSeconds: number;
  requestsPerWindow: number;
  windowSeconds: number;
}

export interface Request extends RequestName {
  query?: Record<string, string>;
  body?: object;
}

/** What came back, not looked at yet. */
export interface Reply {
  status: number;
  text: string;
  retryAfter: string | undefined;
  date: string | undefined;
}

/** Sends a request once and reads its reply, over one pool of keep-alive connections. */
export class Connections {
  private pool: Dispatcher | undefined;

  /** @param most How many connections may be open at a time. */
  constructor(
    private readonly settings: ClientSettings,
    private readonly most: number,
  ) {}

  /**
   * @param beforeSending Waited for once there is a connection, before the first byte of a request with a body goes out.
   * @throws ConnectionError where no whole reply came; ReplyError where it is too long; the EndpointsError that
   *   `beforeSending` throws, and then nothing went out.
   */
  async exchange(request: Request, beforeSending: () => Promise<void>): Promise<Reply> {
    const body = request.body && new Body(request.body, beforeSending);
    try {
      return await this.exchangeWith(body, request);
    } catch (error) {
      if (error instanceof EndpointsError) throw error;
      throw new ConnectionError(request, error, new URL(this.settings.baseUrl).origin, body?.isTaken ?? true);
    }
  }

  async close(): Promise<void> {
    const pool = this.pool;
    this.pool = undefined;
    await pool?.close();
  }

  private async exchangeWith(body: Body | undefined, { method, path, query }: Request): Promise<Reply> {
    const { baseUrl, apiKey, versionHeader, userAgent, timeoutSeconds, retryForSeconds } = this.settings;
    const response = await undici().request(baseUrl + path, {
      method: method as Dispatcher.HttpMethod,
      dispatcher: this.connect(),
      // For all of it, since a body that trickles keeps every other limit.
      signal: AbortSignal.timeout((timeoutSeconds + retryForSeconds) * 1000),
      ...(query && { query }),
      headers: {
        accept: "application/json",
        // What a gateway keeps for a while may be out of date, and then no proof of anything.
        "cache-control": "no-cache",
        authorization: `Bearer ${apiKey}`,
        "user-agent": userAgent,
        [versionHeader]: "2",
        ...(body && { "content-type": "application/json", "content-length": String(body.length) }),
      },
      ...(body && { body: body.stream }),
    });
    const { date, "retry-after": retryAfter } = response.headers;
    const status = response.statusCode;
    const text = await readAll(response.body as AsyncIterable<Buffer>, { method, path }, status);
    return {
      status,
      text: this.withoutKey(text, status),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      date: typeof date === "string" ? date : undefined,
    };
  }

  /** The public service repeats a refused key in its own words; whatever else repeats it, it goes no further than here. */
  private withoutKey(text: string, status: number): string {
    const { apiKey } = this.settings;
    return status < 300 && apiKey.length < SHORTEST_KEY ? text : text.replaceAll(apiKey, "[key]");
  }

  private connect(): Dispatcher {
    const timeout = this.settings.timeoutSeconds * 1000;
    this.pool ??= new (undici().EnvHttpProxyAgent)({
      connections: this.most,
      connect: { timeout },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    return this.pool;
  }
}

/**
 * A request's body, which knows whether it went out. It is taken when there is a connection to write it to: after a
 * proxy's tunnel and TLS, before the request's first byte.
 */
class Body {
  isTaken = false;
  readonly length: number;
  readonly stream: Readable;

  constructor(
    data: object,
    private readonly beforeSending: () => Promise<void>,
  ) {
    const bytes = Buffer.from(JSON.stringify(data));
    this.length = bytes.length;
    this.stream = Readable.from(this.take(bytes), { objectMode: false });
  }

  private async *take(bytes: Buffer) {
    await this.beforeSending();
    this.isTaken = true;
    yield bytes;
  }
}

async function readAll(body: AsyncIterable<Buffer>, request: RequestName, status: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > MOST_BYTES) {
      throw new ReplyError(request, status, `the reply is longer than ${MOST_BYTES >> 20} MiB`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
