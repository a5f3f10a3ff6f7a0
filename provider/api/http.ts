import type { Dispatcher } from "undici";
import { z } from "zod";
import type { Settings } from "../config";
import { isMapping } from "../document";
import { redacted, secretsIn } from "../secrets";
import { VERSION } from "../version";
import { errorFromWire } from "../wire";
import { ApiError, ConnectionError, ReplyError, type RequestName } from "./errors";
import { LONGEST_RETRY_AFTER, parseRetryAfter, waitBeforeRetry } from "./retry";
import { traceRequest } from "./trace";

/** More than the largest page that the service can mean (100 endpoints); a reply beyond it is not read to its end. */
const MOST_BYTES = 16 * 1024 * 1024;

/** As many requests as a Pulumi engine sends at once by default on two cores. */
const MOST_CONNECTIONS = 8;

export interface Request extends RequestName {
  query?: Record<string, string>;
  body?: object;
}

/** Time and chance, so that tests need not wait. */
export interface Clock {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  random(): number;
}

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: () => Math.random(),
};

/**
 * Sends requests to one service with one key: signs them, waits and repeats where that is safe, and turns every
 * failure into a typed error. One keep-alive pool; the proxy of the environment is used.
 */
export class HttpClient {
  private pool: Promise<Dispatcher> | undefined;

  constructor(
    readonly settings: Settings,
    private readonly clock: Clock = realClock,
  ) {}

  /**
   * Sends a request and parses its reply.
   *
   * @throws ApiError where the service refused; ConnectionError where no whole reply came; ReplyError where the
   * reply is not what the contract says.
   */
  async send<T extends z.ZodType>(request: Request, reply: T): Promise<z.output<T>> {
    const started = this.clock.now();
    let waitedForLimit = 0;
    for (let sent = 1; ; sent++) {
      const outcome = await this.once(request, reply);
      if ("value" in outcome) return outcome.value;

      const limited = outcome.error instanceof ApiError && outcome.error.status === 429;
      const wait = waitBeforeRetry({
        method: request.method,
        error: outcome.error,
        sent,
        elapsed: this.clock.now() - started - waitedForLimit,
        retryFor: this.settings.retryForSeconds * 1000,
        retryAfter: outcome.retryAfter,
        random: this.clock.random(),
      });
      if (wait === undefined) throw outcome.error;
      if (limited) waitedForLimit += wait;
      if (waitedForLimit > LONGEST_RETRY_AFTER) throw outcome.error;
      await this.clock.sleep(wait);
    }
  }

  /** Ends the pool's connections. A client that is not closed does not keep its process alive. */
  async close(): Promise<void> {
    const pool = this.pool;
    this.pool = undefined;
    await (await pool)?.close();
  }

  private async once<T extends z.ZodType>(
    request: Request,
    schema: T,
  ): Promise<{ value: z.output<T> } | { error: Error; retryAfter?: number | undefined }> {
    const started = this.clock.now();
    let reply: { status: number; text: string; retryAfter: string | undefined };
    try {
      reply = await this.exchange(request);
    } catch (error) {
      traceRequest(request, undefined, this.clock.now() - started);
      return {
        error: error instanceof ReplyError ? error : new ConnectionError(request, error, this.origin),
      };
    }
    const json = parseJson(reply.text);
    const ok = reply.status >= 200 && reply.status < 300;
    const failure = ok ? undefined : this.failureOf(request, reply.status, json);
    traceRequest(request, { status: reply.status, ...failure }, this.clock.now() - started);

    if (failure) {
      const error = new ApiError(request, failure, { keyIsConfigured: this.settings.apiKeyIsConfigured });
      return { error, retryAfter: parseRetryAfter(reply.retryAfter, this.clock.now()) };
    }
    // A delete answers with no body at all, which is no JSON either.
    if (json === undefined && reply.text !== "") {
      return { error: new ReplyError(request, reply.status, "the reply is not JSON") };
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return { value: parsed.data };
    const [issue] = parsed.error.issues;
    const what = `the reply is not as agreed (${issue?.path.join(".") || "it"}: ${issue?.message})`;
    return { error: new ReplyError(request, reply.status, what, idOf(json)) };
  }

  private async exchange({ method, path, query, body }: Request) {
    const { baseUrl, apiKey, versionHeader } = this.settings;
    const { request } = await import("undici");
    const response = await request(baseUrl + path, {
      method: method as Dispatcher.HttpMethod,
      dispatcher: await this.connect(),
      ...(query && { query }),
      headers: {
        accept: "application/json",
        authorization: `Bearer ${apiKey}`,
        "user-agent": `pulumi-endpoints/${VERSION}`,
        [versionHeader]: "2",
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of response.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MOST_BYTES) {
        throw new ReplyError(
          { method, path },
          response.statusCode,
          `the reply is longer than ${MOST_BYTES >> 20} MiB`,
        );
      }
      parts.push(part);
    }
    const retryAfter = response.headers["retry-after"];
    return {
      status: response.statusCode,
      text: Buffer.concat(parts).toString("utf8"),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    };
  }

  /** The library is loaded where the first request is made, since most of a preview makes none. */
  private connect(): Promise<Dispatcher> {
    const timeout = this.settings.timeoutSeconds * 1000;
    this.pool ??= import("undici").then(
      ({ EnvHttpProxyAgent }) =>
        new EnvHttpProxyAgent({
          connections: MOST_CONNECTIONS,
          connect: { timeout },
          headersTimeout: timeout,
          bodyTimeout: timeout,
        }),
    );
    return this.pool;
  }

  private failureOf({ body }: Request, status: number, json: unknown) {
    const parsed = errorFromWire.safeParse(json);
    const said = parsed.success ? parsed.data : undefined;
    // The public service repeats a refused key in its own words, and may repeat a part of a policy.
    const message =
      said?.msg && redacted(said.msg.replaceAll(this.settings.apiKey, "[key]"), secretsSent(body));
    return { status, code: said?.error_code, message, operationId: said?.details?.operation_id };
  }

  /** Scheme, host and port of the service: the only place that the key is ever sent to. */
  get origin(): string {
    return new URL(this.settings.baseUrl).origin;
  }
}

/** The secrets of the policy that a request carries. */
function secretsSent(body: unknown): string[] {
  const policy = isMapping(body) ? body["traffic_policy"] : undefined;
  return typeof policy === "string" ? secretsIn(parseJson(policy)) : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idOf(json: unknown): string | undefined {
  const parsed = z.object({ id: z.string().min(1) }).safeParse(json);
  return parsed.success ? parsed.data.id : undefined;
}
