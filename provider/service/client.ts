import { setMaxListeners } from "node:events";
import type { z } from "zod";
import { jsonOf } from "../data/index";
import { ApiError, ConnectionError, EndpointsError, ReplyError, UnsentError } from "./apiErrors";
import { type Clock, realClock } from "./clock";
import { HttpTransport, type Reply, type Request } from "./httpTransport";
import { type LongWait, RateLimiter } from "./rateLimiter";
import { redact, withoutKeys } from "./redaction";
import { errorSchema, mistakesIn } from "./replySchemas";
import { type LoggedRequest, requestLog } from "./requestLog";
import { parseRetryAfter, waitBeforeRetry } from "./retry";
import type { Settings } from "./settings";

/** Messages for the user. */
export interface Log {
  info(message: string): void;
  /** Each warning is shown once a process. The engine checks a resource again before it replaces it. */
  warn(message: string): void;
}

/** The client's dependencies on its process. */
interface ClientDependencies {
  clock: Clock;
  log: Log;
  /** Writes a line of the request log (`ENDPOINTS_LOG=requests`). */
  writeLog(line: string): void;
  /** Whether the engine is still there to store the result of a create. Called just before the create is sent. */
  isEngineAlive(): Promise<boolean>;
  /** The most open connections, and concurrent requests. */
  maxConnections: number;
}

/**
 * The most connections of a provider, and of a program with data sources. A few are enough: at 100 ms a request, a single
 * connection could send five times the public service's budget.
 */
export const MAX_CONNECTIONS = { provider: 6, program: 2 };

/** After this time without an answer, the user gets a message, in milliseconds. */
const SILENCE_LIMIT = 3_000;

/** How long a process waits while all replies are 429, in milliseconds. A request that would wait longer fails at once. */
const MAX_HOLD = 600_000;

const defaultDependencies: ClientDependencies = {
  clock: realClock,
  log: { info: () => {}, warn: () => {} },
  writeLog: (line) => void process.stderr.write(`${line}\n`),
  isEngineAlive: async () => true,
  maxConnections: MAX_CONNECTIONS.provider,
};

/**
 * Sends requests to one service with one key. It paces and authorizes them, repeats them if that is safe, and throws a typed
 * error for every failure. It has one keep-alive pool and uses the proxy of the environment.
 */
export class HttpClient {
  readonly clock: Clock;
  /**
   * The `Date` of the last reply, and how far that is ahead of this machine's clock, in milliseconds. The offset may be too large by
   * the time of that exchange, and too small by a second. Undefined if the reply had no date.
   */
  serviceClock: { date: number; offset: number } | undefined;
  private readonly deps: ClientDependencies;
  private readonly limiter: RateLimiter;
  private readonly transport: HttpTransport;
  private readonly logRequest: ReturnType<typeof requestLog>;
  private readonly stopping = new AbortController();
  private isSilenceReported = false;
  /** Since when the service has answered nothing but 429. */
  private limitedSince: number | undefined;

  constructor(
    readonly settings: Settings,
    deps: Partial<ClientDependencies> = {},
  ) {
    this.deps = { ...defaultDependencies, ...deps };
    // Each waiting request adds a listener.
    setMaxListeners(0, this.stopping.signal);
    this.clock = this.deps.clock;
    redact(settings.apiKey);
    this.logRequest = requestLog(this.deps.writeLog, (message) => this.warn(message));
    this.transport = new HttpTransport(settings, this.deps.maxConnections);
    const { requestsPerWindow: requests, windowSeconds } = settings;
    const limits = { requests, window: windowSeconds * 1000, concurrent: this.deps.maxConnections };
    const reported = new Set<boolean>();
    this.limiter = new RateLimiter(limits, this.clock, (wait) => {
      if (!reported.has(wait.isByService)) this.deps.log.info(waitMessage(wait, settings));
      reported.add(wait.isByService);
    });
  }

  /**
   * Sends a request and parses its reply.
   *
   * @throws ApiError if the service refused; ConnectionError if there was no complete reply; ReplyError if the reply breaks
   * the contract; UnsentError for a create after the engine has ended, and if the client was stopped before the request was
   * sent.
   */
  async send<T extends z.ZodType>(request: Request, schema: T): Promise<z.output<T>> {
    const { method } = request;
    const { retryForSeconds, windowSeconds } = this.settings;
    const limits = { window: windowSeconds * 1000, retryFor: retryForSeconds * 1000 };
    // The time of attempts, and of the waits between them. The waits for the rate limit do not count.
    let elapsed = 0;
    for (let sent = 1; ; sent++) {
      await this.unlessStopped(
        this.limiter.acquire(),
        () => new UnsentError(request, "the run was cancelled"),
      );
      const sentAt = this.clock.now();
      try {
        return await this.attempt(request, schema).finally(() => this.limiter.release());
      } catch (error) {
        // Only the last attempt of a create can have had an effect, because after such an attempt it is not repeated.
        if (error instanceof EndpointsError) error.sentAt = sentAt;
        elapsed += this.clock.now() - sentAt;
        const random = this.clock.random();
        const wait = waitBeforeRetry({ ...limits, method, error, sent, elapsed, random });
        if (wait === undefined) throw error;
        if (error instanceof ApiError && error.status === 429) {
          this.holdAll(wait, error);
          continue;
        }
        if (error instanceof ConnectionError && !error.isSetupProblem && elapsed + wait >= SILENCE_LIMIT)
          this.reportSilence(error.summary);
        await this.unlessStopped(this.clock.sleep(wait), () => error);
        elapsed += wait;
      }
    }
  }

  /** Lets requests under way end, sends nothing more, and fails waiting requests. */
  stop(): void {
    this.stopping.abort();
  }

  warn(message: string): void {
    // A warning names a list item that cannot be read, and the item's id may be any text.
    this.deps.log.warn(withoutKeys(message));
  }

  /** Closes the connections. An open client does not keep its process alive. */
  close(): Promise<void> {
    return this.transport.close();
  }

  private async attempt<T extends z.ZodType>(request: Request, schema: T): Promise<z.output<T>> {
    const sentAt = this.clock.now();
    const { method, path } = request;
    const silence = setTimeout(
      () => this.reportSilence(`${method} ${path}: no answer for ${SILENCE_LIMIT / 1000} s`),
      SILENCE_LIMIT,
    ).unref();
    const logged: LoggedRequest = { sentAt, method, path };
    try {
      const reply = await this.transport.request(request, () => this.assertEngine(request));
      const { status } = reply;
      logged.status = status;
      const date = Date.parse(reply.date ?? "");
      this.serviceClock = Number.isNaN(date) ? undefined : { date, offset: date - sentAt };
      this.limitedSince = status === 429 ? (this.limitedSince ?? sentAt) : undefined;
      const json = jsonOf(reply.text);
      if (status >= 200 && status <= 299) return parseReply(request, reply, json, schema);
      const error = this.errorOf(request, reply, json);
      logged.operationId = error.operationId;
      throw error;
    } finally {
      clearTimeout(silence);
      this.logRequest(logged, this.clock.now());
    }
  }

  /** After the engine's end, a created endpoint would be in no state. */
  private async assertEngine(request: Request): Promise<void> {
    if (request.method === "POST" && !(await this.deps.isEngineAlive()))
      throw new UnsentError(request, "Pulumi has ended in the meantime");
  }

  private errorOf(request: Request, { status, retryAfter }: Reply, json: unknown): ApiError {
    const { data } = errorSchema.safeParse(json);
    const failure = {
      status,
      retryAfter: parseRetryAfter(retryAfter, this.clock.now()),
      code: data?.error_code,
      message: data?.msg,
      operationId: data?.details?.operation_id,
    };
    const { keySource, baseUrl } = this.settings;
    return new ApiError(request, failure, { keySource, baseUrl, hidesText: request.hasSecrets?.() });
  }

  /** Waits for the work, or throws the error if the client is stopped. */
  private async unlessStopped(wait: Promise<void>, error: () => unknown): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) throw error();
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    signal.addEventListener("abort", stop);
    // A promise that is never settled would keep every wait of the process.
    await Promise.race([wait, stopped]).finally(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) throw error();
  }

  /** Stops all requests after a 429. */
  private holdAll(wait: number, error: ApiError): void {
    const now = this.clock.now();
    if (now + wait - (this.limitedSince ?? now) > MAX_HOLD) throw error;
    this.limiter.hold(wait);
  }

  /** Reports a service that does not answer, once, long before the last attempt. */
  private reportSilence(what: string): void {
    if (this.isSilenceReported) return;
    this.isSilenceReported = true;
    const { baseUrl, retryForSeconds } = this.settings;
    this.warn(
      `${what}; requests to ${baseUrl} are repeated for ${retryForSeconds} s (endpoints:retryForSeconds)`,
    );
  }
}

/** The data of a reply to a request that the service accepted. */
function parseReply<T extends z.ZodType>(
  request: Request,
  { status, text }: Reply,
  json: unknown,
  schema: T,
): z.output<T> {
  const broken = (what: string) => new ReplyError(request, status, what);
  // A 200 may come from a proxy that answers everything, and has deleted nothing.
  if (request.method === "DELETE" && status !== 204) throw broken("a deletion must be answered with 204");
  // The reply to a delete is empty, which is no JSON.
  if (json === undefined && text !== "") throw broken("the reply is not JSON");
  const { success, data, error } = schema.safeParse(json);
  if (!success) throw broken(`the reply does not match the contract (${mistakesIn(error)})`);
  return data;
}

function waitMessage({ milliseconds, isByService }: LongWait, settings: Settings): string {
  const { requestsPerWindow, windowSeconds } = settings;
  const wait = `requests wait ${Math.ceil(milliseconds / 1000)} s`;
  const budget = `${requestsPerWindow} requests in ${windowSeconds} s (endpoints:requestsPerWindow, endpoints:windowSeconds)`;
  return isByService
    ? `${wait}, because the service reports that the account's rate limit is used up. A request fails after ten minutes of this. Others may use the account too; this program keeps to ${budget}.`
    : `${wait}, to keep to the account's budget of ${budget}.`;
}
