import type { z } from "zod";
import {
  ApiError,
  CancelledError,
  ConnectionError,
  EndpointsError,
  EngineGoneError,
  ReplyError,
} from "./apiErrors";
import { type Clock, realClock, ServiceClock } from "./clock";
import { type ClientSettings, Connections, type Reply, type Request } from "./connections";
import { jsonOf } from "./json";
import { type Limits, type LongWait, RateLimiter } from "./rateLimiter";
import type { ServiceFailure } from "./remedies";
import { errorFromWire } from "./replySchemas";
import { type LoggedRequest, requestLog } from "./requestLog";
import { parseRetryAfter, waitBeforeRetry } from "./retry";
import { Stop } from "./stop";

/** Messages for the user. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** The client's dependencies on its process. */
interface ClientDependencies {
  clock: Clock;
  log: Log;
  /** Writes a line of the request log (`ENDPOINTS_LOG=requests`). */
  writeLog(line: string): void;
  /** Whether the engine is still there to store the result of a create. Called just before the create is sent. */
  engineIsThere(): Promise<boolean>;
  /** The most open connections, and concurrent requests. */
  connections: number;
}

/**
 * The most connections of a provider, and of a program with data sources. A few are enough: at 100 ms a request, a single
 * connection could send five times the public service's budget.
 */
export const CONNECTIONS = { provider: 6, program: 2 };

/** After this time without an answer, the user gets a message, in milliseconds. */
const SILENCE = 3_000;

/** The longest time of a process with no other replies than 429, in milliseconds. A longer wait ends the attempt at once. */
const LONGEST_HOLD = 600_000;

const alone: ClientDependencies = {
  clock: realClock,
  log: { info: () => {}, warn: () => {} },
  writeLog: (line) => void process.stderr.write(`${line}\n`),
  engineIsThere: async () => true,
  connections: CONNECTIONS.provider,
};

/**
 * Sends requests to one service with one key. It paces and authorizes them, repeats them if that is safe, and throws a typed
 * error for every failure. It has one keep-alive pool and uses the proxy of the environment.
 */
export class HttpClient {
  readonly clock: Clock;
  readonly serviceClock = new ServiceClock();
  private readonly deps: ClientDependencies;
  private readonly limiter: RateLimiter;
  private readonly connections: Connections;
  private readonly stopping = new Stop();
  private readonly log: (request: LoggedRequest) => void;
  private isSilenceReported = false;
  /** Since when the service has answered nothing but 429. */
  private limitedSince: number | undefined;

  constructor(
    readonly settings: ClientSettings,
    deps: Partial<ClientDependencies> = {},
  ) {
    this.deps = { ...alone, ...deps };
    this.clock = this.deps.clock;
    this.log = requestLog(this.deps.writeLog, (message) => this.warn(message));
    this.connections = new Connections(settings, this.deps.connections);
    let logged = false;
    this.limiter = new RateLimiter(limitsOf(settings, this.deps.connections), this.clock, (wait) => {
      if (!logged) this.deps.log.info(waitMessage(wait, settings));
      logged = true;
    });
  }

  /**
   * Sends a request and parses its reply.
   *
   * @throws ApiError if the service refused; ConnectionError if there was no complete reply; ReplyError if the reply breaks
   * the contract; EngineGoneError for a create after the engine has ended; CancelledError if the client was stopped
   * before the request was sent.
   */
  async send<T extends z.ZodType>(request: Request, reply: T): Promise<z.output<T>> {
    const { retryForSeconds, windowSeconds } = this.settings;
    let firstSent: number | undefined;
    let waitedSince = 0;
    for (let sent = 1; ; sent++) {
      const turn = await this.takeTurn(request);
      if (firstSent === undefined) firstSent = this.clock.now();
      else waitedSince += turn;
      const sentAt = this.clock.now();
      const silence = setTimeout(
        () => this.reportSilence(`${request.method} ${request.path}: no answer for ${SILENCE / 1000} s`),
        SILENCE,
      ).unref();
      const outcome = await this.once(request, reply).finally(() => {
        clearTimeout(silence);
        this.limiter.end();
      });
      if (!("error" in outcome && isRateLimit(outcome.error))) this.limitedSince = undefined;
      if ("value" in outcome) return outcome.value;

      const { error, retryAfter } = outcome;
      // Only the last attempt of a create can have had an effect, because after such an attempt it is not repeated.
      if (error instanceof EndpointsError) error.sentAt = sentAt;
      const wait = waitBeforeRetry({
        method: request.method,
        error,
        sent,
        elapsed: this.clock.now() - firstSent - waitedSince,
        window: windowSeconds * 1000,
        retryFor: retryForSeconds * 1000,
        retryAfter,
        random: this.clock.random(),
      });
      if (wait === undefined) throw error;
      const elapsed = this.clock.now() - firstSent + wait;
      if (error instanceof ConnectionError && !error.isRefusedHere && elapsed >= SILENCE)
        this.reportSilence(error.summary);
      if (isRateLimit(error)) {
        this.limitedSince ??= sentAt;
        if (this.clock.now() + wait - this.limitedSince > LONGEST_HOLD) throw error;
        this.limiter.hold(wait);
      } else {
        await this.stopping.unless(this.clock.sleep(wait), () => error);
      }
    }
  }

  /** Reports a service that does not answer, once, long before the last attempt. */
  private reportSilence(what: string): void {
    if (this.isSilenceReported) return;
    this.isSilenceReported = true;
    const { baseUrl, retryForSeconds } = this.settings;
    this.deps.log.warn(
      `${what}; requests to ${baseUrl} are repeated for ${retryForSeconds} s (endpoints:retryForSeconds)`,
    );
  }

  /** Lets requests under way end, sends nothing more, and fails waiting requests. */
  stop(): void {
    this.stopping.now();
  }

  warn(message: string): void {
    this.deps.log.warn(message);
  }

  /** Closes the connections. An open client does not keep its process alive. */
  close(): Promise<void> {
    return this.connections.close();
  }

  /** Waits until the request may be sent, and returns for how long. */
  private async takeTurn({ method, path }: Request): Promise<number> {
    const asked = this.clock.now();
    await this.stopping.unless(this.limiter.turn(), () => new CancelledError({ method, path }));
    return this.clock.now() - asked;
  }

  /** After the engine's end, a created endpoint would be in no state. */
  private async beforeSending({ method, path }: Request): Promise<void> {
    if (method !== "POST" || (await this.deps.engineIsThere())) return;
    throw new EngineGoneError({ method, path });
  }

  private async once<T extends z.ZodType>(
    request: Request,
    schema: T,
  ): Promise<{ value: z.output<T> } | { error: Error; retryAfter?: number | undefined }> {
    const started = this.clock.now();
    const { method, path } = request;
    const logged = () => ({ sentAt: started, milliseconds: this.clock.now() - started, method, path });
    let reply: Reply;
    try {
      reply = await this.connections.request(request, () => this.beforeSending(request));
    } catch (error) {
      this.log(logged());
      return { error: error instanceof Error ? error : new Error(String(error)) };
    }
    this.serviceClock.observe(reply.date, started, this.clock.now());
    const json = jsonOf(reply.text);
    const ok = reply.status >= 200 && reply.status < 300;
    const retryAfter = parseRetryAfter(reply.retryAfter, this.clock.now());
    const error = ok ? undefined : this.errorOf(request, { status: reply.status, retryAfter }, json);
    this.log({ ...logged(), status: reply.status, operationId: error?.operationId });

    if (error) return { error, retryAfter };
    // A 200 may come from a proxy that answers everything, and has deleted nothing.
    if (request.method === "DELETE" && reply.status !== 204)
      return { error: new ReplyError(request, reply.status, "a deletion must be answered with 204", json) };
    // The reply to a delete is empty, which is no JSON.
    if (json === undefined && reply.text !== "") {
      return { error: new ReplyError(request, reply.status, "the reply is not JSON") };
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return { value: parsed.data };
    const [issue] = parsed.error.issues;
    const what = `the reply does not match the contract (${issue?.path.join(".") || "it"}: ${issue?.message})`;
    return { error: new ReplyError(request, reply.status, what, json) };
  }

  private errorOf(
    request: Request,
    reply: Pick<ServiceFailure, "status" | "retryAfter">,
    json: unknown,
  ): ApiError {
    const { data } = errorFromWire.safeParse(json);
    const failure = {
      ...reply,
      code: data?.error_code,
      message: data?.msg,
      operationId: data?.details?.operation_id,
    };
    return new ApiError(request, failure, {
      keyIsConfigured: this.settings.apiKeyIsConfigured,
      hidesText: request.hasSecrets?.(),
    });
  }
}

const limitsOf = ({ requestsPerWindow, windowSeconds }: ClientSettings, connections: number): Limits => ({
  requests: requestsPerWindow,
  window: windowSeconds * 1000,
  atOnce: connections,
});

function waitMessage({ milliseconds, waiting, asked }: LongWait, settings: ClientSettings): string {
  const { requestsPerWindow, windowSeconds } = settings;
  const wait = `${waiting === 1 ? "a request waits" : `${waiting} requests wait`} ${Math.ceil(milliseconds / 1000)} s`;
  return asked
    ? `${wait}, because the service reports that the account's rate limit is used up. Others may use the account too; this program keeps to ${requestsPerWindow} requests in ${windowSeconds} s (endpoints:requestsPerWindow, endpoints:windowSeconds).`
    : `${wait}, to keep to the account's budget of ${requestsPerWindow} requests in ${windowSeconds} s (endpoints:requestsPerWindow, endpoints:windowSeconds).`;
}

const isRateLimit = (error: unknown) => error instanceof ApiError && error.status === 429;
