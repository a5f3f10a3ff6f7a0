import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { FREE_VERIFICATIONS_PER_MONTH } from "../../webhooks/platforms";
import type { AccountPlan } from "../../webhooks/webhookArgs";
import { agentFields } from "../../webhooks/webhookChecks";
import { listen } from "../listen";
import { verification } from "./actions";
import { receive, respond, toApplication } from "./http";
import { answerRequest, type RequestDeps, type Target } from "./runner";
import { type Delivery, secretOf, type Verdict, verifyWebhook } from "./signatures";
import { type AgentSource, readSource } from "./source";
import { RequestFailed, RequestNotSimulated, type TracedRule } from "./trace";
import type { Policy } from "./values";

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
  /** The status of the reply. 0 if the sender disconnected before the end of the request, or the policy closed the connection. */
  status: number;
  /** The rules that ran, and those that did not. */
  trace: readonly TracedRule[];
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
 * It runs policies like `Emulator.fetch`, and verifies the platforms of `signWebhook`. It does not support challenges or TLS, and counts requests only
 * while it runs.
 */
export class Agent {
  private readonly log: AgentRecord[] = [];
  private count = 0;

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT`. */
    readonly url: string,
    private readonly policy: Policy,
    private readonly application: string,
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
    for (const { type, config } of source.policy.on_http_request.flatMap(({ actions }) => actions))
      if (type === "verify-webhook") secretOf(verification.parse(config), options.vaults ?? {});
    const upstream = agentFields.upstream.safeParse(options.upstream ?? source.upstream);
    if (!upstream.success) throw new Error(`upstream ${upstream.error.issues[0]?.message}`);
    const application =
      typeof upstream.data === "number" ? `http://127.0.0.1:${upstream.data}` : upstream.data;
    const server = createServer();
    const url = `http://127.0.0.1:${await listen(server, 0)}`;
    const agent = new Agent(server, url, source.policy, application, options);
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

  private async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = incoming;
    const record: AgentRecord = { method, path, verdicts: [], forwarded: false, status: 0, trace: [] };
    this.log.push(record);
    const request = await receive(incoming, response, `http://${incoming.headers.host}${path}`);
    await respond(response, async () => {
      try {
        const { reply, trace } = await answerRequest(this.target(record), request, this.deps(record));
        return Object.assign(record, { trace, status: reply.status }) && reply;
      } catch (error) {
        if (error instanceof RequestFailed) record.trace = error.trace;
        if (error instanceof RequestNotSimulated) record.status = 501;
        throw error;
      }
    });
  }

  /** The endpoint. Whatever its policy forwards to is the application, too. */
  private target(record: AgentRecord): Target {
    return {
      url: this.url,
      policy: this.policy,
      application: async (request) => {
        record.forwarded = true;
        try {
          return await toApplication(this.application, request);
        } catch (error) {
          if (request.signal?.aborted) throw error;
          record.forwarded = false;
          const body = Buffer.from("the application does not answer");
          return { status: 502, headers: [["content-type", "text/plain"]], body };
        }
      },
    };
  }

  private deps(record: AgentRecord): RequestDeps {
    const { vaults = {}, now = () => new Date() } = this.options;
    return {
      clientIp: "127.0.0.1",
      given: {},
      now,
      vaults,
      internal: (url) => ({ ...this.target(record), url, policy: {} }),
      verify: (provider, delivery) => {
        const verdict = this.verify(provider, delivery);
        record.verdicts.push({ provider, ...verdict });
        return verdict;
      },
    };
  }

  private verify(provider: string, delivery: Delivery): Verdict {
    if (this.options.plan === "free" && this.count >= FREE_VERIFICATIONS_PER_MONTH) {
      const reason = `a free account verifies ${FREE_VERIFICATIONS_PER_MONTH} requests a month; the limit is reached`;
      return { verified: false, reason };
    }
    this.count += 1;
    return verifyWebhook(provider, delivery);
  }
}
