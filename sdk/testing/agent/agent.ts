import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { FREE_VERIFICATIONS_PER_MONTH } from "../../webhooks/platforms";
import type { AccountPlan } from "../../webhooks/webhookArgs";
import { agentFields } from "../../webhooks/webhookChecks";
import { listen } from "../listen";
import { type Delivery, secretOf, type Verdict, verifyWebhook } from "./signatures";
import { type AgentSource, readSource, type Verification } from "./source";

export interface AgentOptions extends AgentSource {
  /**
   * The address of the application: a port of 127.0.0.1, or a URL without a path. Required with `options` and
   * `trafficPolicy`. Default: the upstream in `config`.
   */
  upstream?: number | string;
  /**
   * The account's plan. With `free`, the agent verifies 500 requests. Then it refuses every request whose verification is
   * enforced. The public service's behaviour in this case is not documented. Default: a paid plan, without a limit.
   */
  plan?: AccountPlan;
  /** The service's vaults, for secrets that refer to one: `{ webhooks: { brex: "…" } }`. Default: none. */
  vaults?: Record<string, Record<string, string>>;
  /** The clock that signed times are compared with. Default: this machine's clock. */
  now?: () => Date;
}

/** A request to the agent and its result, without secrets. */
export interface AgentRecord {
  method: string;
  /** Path and query. */
  path: string;
  /** The results of the verifications that ran, in order. */
  verdicts: ({ provider: string } & Verdict)[];
  /** Whether the application received the request. */
  forwarded: boolean;
  /** The status of the reply. 0 if the sender disconnected before the end of the request. */
  status: number;
}

/**
 * A stand-in for the service's agent, on loopback. It starts with the outputs of `WebhookVerification`, verifies requests,
 * forwards verified requests byte for byte to a local application, and answers others with 403. With the policy of a cloud
 * endpoint it stands in for that endpoint: `forward-internal` also forwards to the application.
 *
 * ```ts
 * const agent = await Agent.start({ config: outputs.agentConfig, upstream: application.port });
 * const headers = signWebhook("calendly", { secret, body });
 * await fetch(agent.url, { method: "POST", headers, body }); // reaches the application
 * await agent.close();
 * ```
 *
 * It verifies the platforms of `signWebhook`. It does not support expressions, challenges or TLS, and counts requests only
 * while it runs.
 */
export class Agent {
  private readonly log: AgentRecord[] = [];
  private count = 0;

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT`. */
    readonly url: string,
    private readonly verifications: readonly (Verification & { secret: string })[],
    private readonly upstream: URL,
    private readonly options: AgentOptions,
  ) {}

  /**
   * Starts a stand-in. It does not keep this process running.
   *
   * @throws Error if the agent would refuse its options, configuration or policy, if the policy contains more than the
   *   stand-in supports, if it does not know how the platform signs, or if the secret is not valid for the platform.
   */
  static async start(options: AgentOptions): Promise<Agent> {
    const source = readSource(options);
    const verifications = source.verifications.map((each) => ({
      ...each,
      secret: secretOf(each, options.vaults ?? {}),
    }));
    const upstream = agentFields.upstream.safeParse(options.upstream ?? source.upstream);
    if (!upstream.success) throw new Error(`upstream ${upstream.error.issues[0]?.message}`);
    const application =
      typeof upstream.data === "number" ? `http://127.0.0.1:${upstream.data}` : upstream.data;
    const server = createServer();
    const url = `http://127.0.0.1:${await listen(server, 0)}`;
    const agent = new Agent(server, url, verifications, new URL(application), options);
    server.on("request", (request, response) => {
      agent.handle(request, response).catch(() => void response.destroy());
    });
    return agent;
  }

  /** All requests so far, in order of arrival. */
  get requests(): readonly AgentRecord[] {
    return this.log;
  }

  /** The number of verifications, including failed ones. */
  get validations(): number {
    return this.count;
  }

  /** Aborts open requests on both sides and stops the server. Resolves when the port is free. Can be called twice. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /** Calls `close`, at the end of the block of an `await using`. */
  readonly [Symbol.asyncDispose] = () => this.close();

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = request;
    const record: AgentRecord = { method, path, verdicts: [], forwarded: false, status: 0 };
    this.log.push(record);
    // Throws if the sender disconnects, so that no partial body is forwarded.
    const body = await buffer(request);
    if (!this.passes(request, body, record)) {
      return reply(response, record, 403, "ERR_NGROK_3204: Request failed webhook verification");
    }
    const left = new AbortController();
    response.once("close", () => left.abort());
    record.forwarded = true;
    try {
      const answer = await forward(this.upstream, request, body, left.signal);
      record.status = answer.statusCode ?? 502;
      await passBack(answer, response);
    } catch (error) {
      if (response.headersSent || left.signal.aborted) throw error;
      record.forwarded = false;
      reply(response, record, 502, "the application does not answer");
    }
  }

  private passes({ headers }: IncomingMessage, body: Buffer, { verdicts }: AgentRecord): boolean {
    const text = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`]));
    return this.verifications.every(({ provider, secret, enforce }) => {
      const verdict = this.verify(provider, { headers: text, body, secret });
      verdicts.push({ provider, ...verdict });
      return verdict.verified || !enforce;
    });
  }

  private verify(provider: string, delivery: Omit<Delivery, "now">): Verdict {
    const { plan, now = () => new Date() } = this.options;
    if (plan === "free" && this.count >= FREE_VERIFICATIONS_PER_MONTH) {
      const reason = `a free account verifies ${FREE_VERIFICATIONS_PER_MONTH} requests a month; the limit is reached`;
      return { verified: false, reason };
    }
    this.count += 1;
    return verifyWebhook(provider, { ...delivery, now: now() });
  }
}

/** The service documents the statuses and the code, but not the texts. */
function reply(response: ServerResponse, record: AgentRecord, status: number, text: string): void {
  record.status = status;
  response.writeHead(status, { "content-type": "text/plain" }).end(text);
}

/** Headers of a single connection. They are not forwarded, and neither are those that `Connection` lists. */
const HOP_BY_HOP = "connection,keep-alive,proxy-connection,transfer-encoding,upgrade,te,trailer";

/**
 * Forwards a request. The body and the order and spelling of the headers do not change.
 *
 * @param signal Aborts the request or its response.
 */
function forward(
  upstream: URL,
  incoming: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  const length = body.length > 0 || incoming.headers["content-length"] !== undefined;
  const headers = forwardedHeaders(incoming, "content-length");
  if (length) headers.push("content-length", `${body.length}`);
  const { method = "GET", url: path = "/" } = incoming;
  return new Promise((resolve, reject) => {
    send(upstream, { method, path, headers, agent: false, signal }, resolve).on("error", reject).end(body);
  });
}

/** Sends the application's answer to the client. If either side disconnects before the end, both connections end. */
async function passBack(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwardedHeaders(answer));
  await pipeline(answer, response);
}

function forwardedHeaders({ headers, rawHeaders }: IncomingMessage, more = ""): string[] {
  const dropped = `${HOP_BY_HOP},${more},${headers.connection}`
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || dropped.includes(name.toLowerCase()) ? [] : [name, rawHeaders[index + 1] ?? ""],
  );
}
