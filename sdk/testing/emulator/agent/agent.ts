import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen } from "../listen";
import { type AgentSource, readSource } from "./configuration";
import { forward, passBack } from "./forward";
import { type Outcome, preparePolicy } from "./policy";
import type { Verdict } from "./signatures";
import { parseTarget, type Target } from "./target";
import { upstreamUrl } from "./upstream";
import type { Visit } from "./variables";
import { type Account, Verifier } from "./verifier";

const MAX_BODY = 16 * 1024 * 1024;

export interface AgentOptions extends AgentSource, Account {
  /**
   * Where the application listens: a port of 127.0.0.1, host and port, or a URL without a path. Default: what the
   * configuration file says; options and policies name none, so with those it is required.
   */
  upstream?: number | string;
  /** The port on 127.0.0.1. Default: a free one. */
  port?: number;
}

/** What the agent did with a request. The secret is never in it. */
export interface AgentRecord {
  method: string;
  /** Path and query. */
  path: string;
  /** One for each verification that ran, in order. */
  verdicts: ({ provider: string } & Verdict)[];
  /** Whether the application saw it. */
  forwarded: boolean;
  /** The status that was answered; 0 where the request broke off before its end. */
  status: number;
}

/**
 * A stand-in for the service's agent, on loopback: started with exactly what `WebhookVerification` gives, it verifies
 * requests, forwards those that pass to a local application byte for byte, and answers the others with 403. With the
 * policy of a cloud endpoint it plays that endpoint: `forward-internal` leads to the application too.
 *
 * ```ts
 * const agent = await Agent.start({ config: outputs.agentConfig, upstream: application.port });
 * const headers = signWebhook("calendly", { secret, body });
 * await fetch(agent.url, { method: "POST", headers, body }); // reaches the application
 * await agent.close();
 * ```
 *
 * It verifies the platforms of `signWebhook`, and answers the challenge of Zoom. It has no TLS, and keeps no count beyond
 * its own life.
 */
export class Agent {
  private readonly log: AgentRecord[] = [];
  private readonly work = new Set<Promise<void>>();

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT`. */
    readonly url: string,
    private readonly verifier: Verifier,
    private readonly decide: Decide,
    private readonly upstream: URL,
  ) {}

  /**
   * @throws Error for a source that the agent would not take, a policy with actions that the stand-in does not do, a
   *   platform whose scheme it does not know, a vault entry that is not given, and a port that is taken.
   */
  static async start(options: AgentOptions): Promise<Agent> {
    const { policy, upstream: configured } = readSource(options);
    const given = options.upstream ?? configured;
    if (given === undefined) throw new Error("upstream is missing: the port or URL of the application");
    const upstream = upstreamUrl(given);
    const verifier = new Verifier(policy, options);
    const decide = await preparePolicy(policy);
    const server = createServer();
    const url = `http://127.0.0.1:${await listen(server, options.port ?? 0)}`;
    const agent = new Agent(server, url, verifier, decide, upstream);
    server.on("request", (request, response) => {
      const work = agent.handle(request, response).catch(() => void response.destroy());
      agent.work.add(work);
      void work.then(() => agent.work.delete(work));
    });
    server.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
      else socket.destroy();
    });
    return agent;
  }

  /** All requests so far, in order of arrival. */
  get requests(): readonly AgentRecord[] {
    return this.log;
  }

  /** How many signatures were verified, the bad ones too. */
  get validations(): number {
    return this.verifier.count;
  }

  /** Breaks off what is under way, on both sides. Resolves when the port is free; a second call changes nothing. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await Promise.all(this.work);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record: AgentRecord = {
      method: request.method ?? "",
      path: request.url ?? "",
      verdicts: [],
      forwarded: false,
      status: 0,
    };
    this.log.push(record);
    const body = await read(request);
    if (body === undefined) return answer(response, record, { status: 413, headers: {}, body: "" });
    const target = parseTarget(record.path);
    if (!target) return answer(response, record, { status: 400, headers: {}, body: "no valid target" });
    const outcome = this.decide(visitOf(request, target, body), (config, visit) => {
      const verdict = this.verifier.verify(config, visit);
      record.verdicts.push({ provider: config.provider, ...verdict });
      return verdict;
    });
    if (!outcome.forward) return answer(response, record, outcome);

    const left = new AbortController();
    response.once("close", () => left.abort());
    const passed = { uri: target.uri, body, more: outcome.headers };
    record.forwarded = true;
    try {
      const reply = await forward(this.upstream, request, passed, left.signal);
      record.status = reply.statusCode ?? 502;
      await passBack(reply, response);
    } catch (error) {
      if (response.headersSent || left.signal.aborted) throw error;
      record.forwarded = false;
      answer(response, record, { status: 502, headers: {}, body: "the application does not answer" });
    }
  }
}

type Decide = Awaited<ReturnType<typeof preparePolicy>>;
type Answer = Omit<Extract<Outcome, { forward: false }>, "forward">;

function answer(response: ServerResponse, record: AgentRecord, { status, headers, body }: Answer): void {
  record.status = status;
  response.writeHead(status, headers).end(body);
}

/** The body, whole; undefined where it is too large. Throws where the sender breaks off, so that no part is passed on. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  return size > MAX_BODY ? undefined : Buffer.concat(chunks);
}

function visitOf(request: IncomingMessage, target: Target, body: Buffer): Visit {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, `${value}`]);
  return {
    method: request.method ?? "",
    target,
    version: request.httpVersion,
    headers: Object.fromEntries(headers),
    headerLists: request.headersDistinct,
    body,
  };
}
