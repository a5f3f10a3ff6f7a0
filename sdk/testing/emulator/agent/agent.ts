import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen } from "../listen";
import { type AgentSource, readSource } from "./configuration";
import { answerHeaders, forward, upstreamUrl } from "./forward";
import { type Policy, preparePolicy, type VerifyConfig, type Visit } from "./policy";
import { type Headers, webhookScheme } from "./schemes";
import { type Verdict, verifyWebhook } from "./signatures";

/** How many signatures a free account verifies in a month (contract, limits). */
const FREE_MONTH = 500;
const MAX_BODY = 16 * 1024 * 1024;

export interface AgentOptions extends AgentSource {
  /**
   * Where the application listens: a port of 127.0.0.1, or a URL. Default: what the configuration file says; options
   * and policies name none, so with those it is required.
   */
  upstream?: number | string;
  /**
   * The account's plan. With `free` the agent stops verifying after 500 requests: it refuses what it cannot verify.
   * What the service does then is not documented. Default: `pro`, which has no limit.
   */
  plan?: "free" | "pro" | "enterprise";
  /** The service's vaults, for secrets that refer to one: `{ webhooks: { brex: "…" } }`. Default: none. */
  vaults?: Record<string, Record<string, string>>;
  /** The clock that signed times are held against. Default: this machine's. */
  now?: () => Date;
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
  private count = 0;

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT`. */
    readonly url: string,
    private readonly verify: Verify,
  ) {}

  /**
   * @throws Error for a source that the agent would not take, a policy with actions that the stand-in does not do, a
   *   platform whose scheme it does not know, a vault entry that is not given, and a port that is taken.
   */
  static async start(options: AgentOptions): Promise<Agent> {
    const { policy, upstream: configured } = readSource(options);
    const upstream = options.upstream ?? configured;
    if (upstream === undefined) throw new Error("upstream is missing: the port or URL of the application");
    const verify = verifier(policy, options);
    const decide = await preparePolicy(policy);
    const server = createServer();
    const agent = new Agent(server, `http://127.0.0.1:${await listen(server, options.port ?? 0)}`, verify);
    server.on("request", (request, response) => {
      agent.handle(request, response, decide, upstreamUrl(upstream)).catch(() => response.destroy());
    });
    server.on("clientError", (_error, socket) => socket.destroy());
    return agent;
  }

  /** All requests so far, in order of arrival. */
  get requests(): readonly AgentRecord[] {
    return this.log;
  }

  /** How many signatures were verified, the bad ones too. */
  get validations(): number {
    return this.count;
  }

  /** Drops open connections. Resolves when the port is free; a second call changes nothing. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(
    request: IncomingMessage,
    response: ServerResponse,
    decide: Decide,
    upstream: URL,
  ): Promise<void> {
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
    const visit: Visit = { method: record.method, target: record.path, headers: flat(request), body };
    const outcome = decide(visit, (config, visit) => {
      const verdict = this.verify(config, visit, this.count);
      this.count += 1;
      record.verdicts.push({ provider: config.provider, ...verdict });
      return verdict;
    });
    if (!outcome.forward) return answer(response, record, outcome);
    record.forwarded = true;
    try {
      const reply = await forward(upstream, request, body, outcome.headers);
      record.status = reply.statusCode ?? 502;
      response.writeHead(record.status, answerHeaders(reply));
      reply.pipe(response);
    } catch {
      record.forwarded = false;
      answer(response, record, { status: 502, headers: {}, body: "the application does not answer" });
    }
  }
}

type Decide = Awaited<ReturnType<typeof preparePolicy>>;
/** Verifies a request, when so many have been verified before. */
type Verify = (config: VerifyConfig, visit: Visit, before: number) => Verdict;

/** Looks up, once, all that the policy needs to verify. */
function verifier(
  policy: Policy,
  { plan = "pro", vaults = {}, now = () => new Date() }: AgentOptions,
): Verify {
  const schemes = new Map<VerifyConfig, (visit: Visit) => Verdict>();
  for (const action of policy.on_http_request.flatMap(({ actions }) => actions)) {
    if (action.type !== "verify-webhook") continue;
    const { provider, secret } = action.config;
    if (secret === undefined) throw new Error(`${provider} needs a secret to be verified here`);
    const key = resolved(secret, vaults);
    // An unknown platform is found out here, not at the first request.
    webhookScheme(provider);
    schemes.set(action.config, ({ headers, body }) =>
      verifyWebhook(provider, { headers, body, secret: key, now: now() }),
    );
  }
  return (config, visit, before) => {
    if (plan === "free" && before >= FREE_MONTH) {
      return {
        verified: false,
        reason: `a free account verifies ${FREE_MONTH} requests a month, and has done so`,
      };
    }
    return schemes.get(config)?.(visit) ?? { verified: false, reason: "the policy changed" };
  };
}

/** The secret itself, also where the policy names the vault's entry that holds it. */
function resolved(secret: string, vaults: Record<string, Record<string, string>>): string {
  const reference = /^\$\{\s*secrets\.get\(\s*(['"])(.*?)\1\s*,\s*(['"])(.*?)\3\s*\)\s*\}$/.exec(secret);
  if (!reference) return secret;
  const [, , vault = "", , name = ""] = reference;
  const entry = vaults[vault]?.[name];
  if (entry === undefined) throw new Error(`the vault ${vault} has no entry ${name}; give it in vaults`);
  return entry;
}

function answer(
  response: ServerResponse,
  record: AgentRecord,
  { status, headers, body }: { status: number; headers: Record<string, string>; body: string },
): void {
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

function flat(request: IncomingMessage): Headers {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, `${value}`]));
}
