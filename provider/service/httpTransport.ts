import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import {
  ConnectionError,
  EndpointsError,
  ReplyError,
  type RequestName,
  UnsentError,
  UserError,
} from "./apiErrors";
import { withoutKeys } from "./redaction";
import type { Settings } from "./settings";
import { isLoopback } from "./url";

/** More than the largest page (100 endpoints) needs. A longer reply is refused. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Loaded for the first request, because most previews make none, and loading it takes a third of the provider's start. */
const undici = (): typeof import("undici") => require("undici");

/** The version of the API, as each request names it. */
const API_VERSION = "2";

export interface Request extends RequestName {
  query?: Record<string, string>;
  body?: object;
  /** Whether the service's text about a refusal may contain a secret. Is called for a refusal only. */
  hasSecrets?: () => boolean;
}

/** A reply before it is parsed. */
export interface Reply {
  status: number;
  text: string;
  retryAfter: string | undefined;
  date: string | undefined;
}

/** Sends a request once and reads its reply, over one pool of keep-alive connections. */
export class HttpTransport {
  private pool: Dispatcher | undefined;
  private readonly proxy: { variable: string; url: string } | undefined;
  /** The proxy's refusal of a user or password, which is not sent again: a few attempts lock an account. */
  private refusal: string | undefined;

  /**
   * @param maxConnections The most open connections.
   * @throws UserError if the environment names a proxy that is no URL.
   */
  constructor(
    private readonly settings: Settings,
    private readonly maxConnections: number,
  ) {
    this.proxy = proxyFor(settings.baseUrl);
  }

  /**
   * @param beforeSending Is awaited once there is a connection, before the first byte of a request with a body is sent.
   * @throws ConnectionError if there was no complete reply; ReplyError if it is too long; UnsentError if the proxy refused; the
   *   EndpointsError that `beforeSending` throws, in which case nothing was sent.
   */
  async request(request: Request, beforeSending: () => Promise<void>): Promise<Reply> {
    if (this.refusal !== undefined) throw new UnsentError(request, this.refusal);
    const body = request.body && new Body(Buffer.from(JSON.stringify(request.body)), beforeSending);
    // Outside of the `try`, because a failure to load the HTTP client is no lost connection.
    const pool = this.connect();
    try {
      const { statusCode: status, headers, body: parts } = await this.send(request, body, pool);
      const bytes = await readAll(parts);
      if (!bytes) throw new ReplyError(request, status, `the reply is longer than ${MAX_BYTES >> 20} MiB`);
      return {
        status,
        // The public service repeats a refused key.
        text: status < 300 ? bytes.toString("utf8") : withoutKeys(bytes.toString("utf8")),
        retryAfter: headers["retry-after"]?.toString(),
        date: headers["date"]?.toString(),
      };
    } catch (error) {
      if (error instanceof EndpointsError) throw error;
      // Undici has the status only in its text.
      if (/^Proxy response \(407\)/.test(error instanceof Error ? error.message : "")) {
        this.refusal = `the proxy of ${this.proxy?.variable} refuses its user or password`;
        throw new UnsentError(request, this.refusal);
      }
      const { origin } = new URL(this.settings.baseUrl);
      throw new ConnectionError(request, error, { origin, maybeSent: body?.wasSent ?? true });
    }
  }

  async close(): Promise<void> {
    const pool = this.pool;
    this.pool = undefined;
    await pool?.close();
  }

  private send(
    { method, path, query }: Request,
    body: Body | undefined,
    dispatcher: Dispatcher,
  ): Promise<Dispatcher.ResponseData> {
    const { baseUrl, apiKey, versionHeader, userAgent, timeoutSeconds, retryForSeconds } = this.settings;
    return undici().request(baseUrl + path, {
      method: method as Dispatcher.HttpMethod,
      dispatcher,
      // A limit for the whole reply, because a body that arrives slowly exceeds none of the others.
      signal: AbortSignal.timeout(Math.ceil((timeoutSeconds + retryForSeconds) * 1000)),
      ...(query && { query }),
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        // A cached reply of a gateway may be out of date, and proves nothing.
        "cache-control": "no-cache",
        authorization: `Bearer ${apiKey}`,
        "user-agent": userAgent,
        [versionHeader]: API_VERSION,
        ...(body && { "content-type": "application/json", "content-length": String(body.bytes.length) }),
      },
      ...(body && { body: body.stream }),
    });
  }

  private connect(): Dispatcher {
    if (this.pool) return this.pool;
    const timeout = Math.ceil(this.settings.timeoutSeconds * 1000);
    const limits = {
      connections: this.maxConnections,
      connect: { timeout },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    };
    const { Agent, EnvHttpProxyAgent } = undici();
    const { proxy } = this;
    // Undici compares the host with `NO_PROXY`.
    this.pool =
      proxy === undefined
        ? new Agent(limits)
        : new EnvHttpProxyAgent({ ...limits, httpsProxy: proxy.url, httpProxy: "" });
    return this.pool;
  }
}

/**
 * The proxy of the environment; undefined if there is none. A proxy would look for this machine's address on itself, and would read the
 * key of a request to an `http://` URL.
 *
 * @throws UserError if the variable is not the URL of a proxy. The message leaves out the value, which may have a password.
 */
function proxyFor(baseUrl: string): { variable: string; url: string } | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  const variable = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"].find(
    (name) => process.env[name],
  );
  if (variable === undefined || protocol === "http:" || isLoopback(hostname)) return undefined;
  const written = process.env[variable] ?? "";
  try {
    const { protocol, username, password, pathname, search, hash } = new URL(written);
    decodeURIComponent(username + password);
    // A password with a `/`, `?` or `#` would be taken for a path.
    if (/^https?:$/.test(protocol) && pathname + search + hash === "/") return { variable, url: written };
  } catch {
    // It is no URL, or does not decode.
  }
  throw new UserError(
    `${variable} is not the URL of an HTTP proxy, such as http://proxy.example.com:3128; correct it (percent-encode its user and password), or unset it`,
  );
}

/**
 * A request's body. It records whether it was sent. Undici reads it once there is a connection, after a proxy's tunnel and TLS,
 * before it sends the first byte of the request.
 */
class Body {
  wasSent = false;
  readonly stream = Readable.from(this.content(), { objectMode: false });

  constructor(
    readonly bytes: Buffer,
    private readonly beforeSending: () => Promise<void>,
  ) {}

  private async *content() {
    await this.beforeSending();
    this.wasSent = true;
    yield this.bytes;
  }
}

/** The whole body; undefined if it is too long. */
async function readAll(body: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
