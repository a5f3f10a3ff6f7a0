import { createServer, type Server } from "node:http";
import type { WireEndpoint } from "../../../provider/service/contract";
import type { RecordedRequest } from "../../test-engine/index";
import { fetchReply, serveRequest } from "../../traffic-policy/answer/index";
import type { Application, EndpointReply, FetchOptions, ServeOptions } from "../../traffic-policy/index";
import { listen } from "../listen";
import { agentEndpoints } from "./agentEndpoints";
import { type Behaviour, behaviourOf } from "./behaviour";
import { type FaultInjectionOptions, faultSource, type RecordedFault } from "./faults";
import { type KeyOptions, ServiceAccounts } from "./keys";
import type { Match, ScriptedReply } from "./script";
import { completeSeed, type Seed } from "./seeds";
import { listener, type Service } from "./server";
import { EmulatedClock, type RateLimit, RateWindow } from "./serviceClock";
import { parseUrl } from "./serviceRules";
import { Store } from "./store";

export interface EmulatorOptions extends Partial<Behaviour> {
  /** An API key that the emulator accepts. `addKey` adds others. Default: a random key in the service's format. */
  apiKey?: string;
  /** The only name of the header with the API version, whose value must be `2`. Default: `Service-Version` or `Ngrok-Version`. */
  versionHeader?: string;
  /** A prefix of every path, such as `/api/v2`. Default: none. */
  basePath?: string;
  /** The service's clock, for `created_at`, `updated_at` and the `Date` header. Default: this machine's clock. */
  now?: () => Date;
  /**
   * The rate limit. Requests above it get 429 with the code 226, after the checks of the API key and the version.
   * Refused requests do not count, but scripted replies do. Default: no limit.
   */
  rateLimit?: RateLimit;
  /** The port on 127.0.0.1. Default: a free port. */
  port?: number;
  /** Called with each request after its reply, or with the status 0 if it gets no reply. */
  onAnswer?: (request: RecordedRequest) => void;
}

/** An agent's endpoint and its application. */
interface Connection {
  url: string | undefined;
  policy?: unknown;
  upstream: Application | undefined;
}

/** The fields to overwrite. A field with the value `undefined` is removed. */
export type Edit = Partial<WireEndpoint>;

/**
 * An emulator of the service: an HTTP server on loopback that keeps endpoints in memory and has the public service's error
 * codes and limits. It does not emulate the limits of an account's plan, such as reserved domains. It has a rate limit
 * only if you set one.
 *
 * ```ts
 * const emulator = await Emulator.start();
 * process.env.ENDPOINTS_BASE_URL = emulator.baseUrl;
 * process.env.ENDPOINTS_API_KEY = emulator.apiKey;
 * …
 * await emulator.close();
 * ```
 */
export class Emulator {
  private readonly applications = new Map<string, Application>();
  private readonly servers: Server[] = [];

  private constructor(
    private readonly server: Server,
    private readonly service: Service,
    /** `http://127.0.0.1:PORT` and the base path, without a slash at the end. */
    readonly baseUrl: string,
    /** The API key for `Authorization: Bearer …`. */
    readonly apiKey: string,
    /** A name of the header with the API version, `2`. */
    readonly versionHeader: string,
  ) {}

  /**
   * Starts an emulator. It does not keep this process running.
   *
   * @throws Error with Node's code `EADDRINUSE` if the port is in use.
   */
  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const { now = () => new Date(), onAnswer = () => {}, rateLimit, port: wanted = 0, ...rest } = options;
    const { apiKey, basePath: path = "", versionHeader, ...behaviour } = rest;
    const versionHeaders = versionHeader ? [versionHeader] : ["Service-Version", "Ngrok-Version"];
    const basePath = `/${path}`.replace(/\/+/g, "/").replace(/\/$/, "");
    const clock = new EmulatedClock(now);
    // Invalid options fail here, before the server starts.
    const checked = { behaviour: behaviourOf(behaviour), rate: rateLimit && new RateWindow(rateLimit) };
    // Clients close idle connections earlier. If the server did, it could close a connection that a client is about to use.
    const server = createServer({ keepAliveTimeout: 120_000 });
    const port = await listen(server, wanted);
    const baseUrl = `http://127.0.0.1:${port}${basePath}`;
    const accounts = new ServiceAccounts(() => new Store(baseUrl, clock, () => service.behaviour));
    const service: Service = {
      ...checked,
      accounts,
      versionHeaders,
      basePath,
      scripts: [],
      faultSource: undefined,
      faults: [],
      requests: [],
      onAnswer,
      clock,
      closing: new AbortController(),
    };
    server.on("request", listener(service));
    server.on("clientError", (_error, socket) => socket.destroy());
    const [name = ""] = versionHeaders;
    return new Emulator(server, service, baseUrl, accounts.add(apiKey ? { apiKey } : {}), name);
  }

  /** Changes the service's behaviour for later requests. Options that are not given keep their value. */
  setBehaviour(change: Partial<Behaviour>): void {
    this.service.behaviour = behaviourOf(change, this.service.behaviour);
  }

  /**
   * Adds an API key and returns it. Without options it belongs to the same account, like a rotated key. With an `account` it
   * belongs to another account, which has its own endpoints.
   */
  addKey(options: KeyOptions = {}): string {
    return this.service.accounts.add(options);
  }

  /**
   * All requests so far in order of arrival, including those with scripted replies. A request without a reply yet has the
   * status 0. API keys are left out.
   */
  get requests(): readonly RecordedRequest[] {
    return this.service.requests;
  }

  /** A copy of all endpoints with the fields that a read by id returns, newest first. */
  get endpoints(): WireEndpoint[] {
    return this.endpointsOf();
  }

  /** The endpoints of an account that `addKey` created. Default: those of the account of `apiKey`. */
  endpointsOf(account?: string): WireEndpoint[] {
    return structuredClone(this.accounts.store(account).newestFirst() ?? []);
  }

  /**
   * Adds an endpoint without a request. Missing fields get the values that the service gives an endpoint of this type. It
   * derives the fields of an edge's endpoint from `public_url`, those of others from `url`: an internal host has the binding
   * `internal`. The service's rules are not checked: several endpoints can have the same URL.
   *
   * @param account The account that gets the endpoint. Default: the account of `apiKey`.
   * @throws Error if another endpoint has this id, or if the URL is invalid.
   */
  seed(seed: Seed, account?: string): WireEndpoint {
    const store = this.accounts.store(account);
    const endpoint = completeSeed(structuredClone(seed), store);
    if (this.accounts.holderOf(endpoint.id)) throw new Error(`there is already an endpoint ${endpoint.id}`);
    const created = Date.parse(seed.created_at ?? "");
    return structuredClone(store.insert(endpoint, Number.isNaN(created) ? undefined : created));
  }

  /**
   * Overwrites fields of an endpoint, like an edit by another client, but without the service's rules. The value
   * `undefined` removes a field. The fields that the service derives from `url`, and `updated_at`, change with it unless
   * they are given.
   *
   * @throws Error if there is no endpoint with this id.
   */
  edit(id: string, change: Edit): WireEndpoint {
    return structuredClone(this.holderOf(id, "edit").overwrite(id, structuredClone(change)));
  }

  /**
   * Deletes an endpoint of any type, like another client.
   *
   * @throws Error if there is no endpoint with this id.
   */
  remove(id: string): void {
    this.holderOf(id, "remove").delete(id);
  }

  /**
   * Gives the next matching requests a scripted reply. They have no effect, and their API key is not checked, unless the
   * reply has `afterCommit: true`. If several scripts match a request, the oldest one applies.
   *
   * @param times The number of requests that get the reply. Default: 1.
   */
  intercept(match: Match, reply: ScriptedReply, times = 1): void {
    this.service.scripts.push({ match, reply, left: times });
  }

  /**
   * Starts to inject random faults from a seeded generator. A second call replaces the options of the first. If a script
   * of `intercept` also matches a request, the script applies.
   *
   * @throws RangeError if the probability is not from 0 to 1.
   */
  injectFaults(options: FaultInjectionOptions): void {
    this.service.faultSource = faultSource(options, this.service.faults);
  }

  /** Ends `injectFaults`. Requests that wait because of a fault keep waiting. */
  stopFaults(): void {
    this.service.faultSource = undefined;
  }

  /** The faults that `injectFaults` has injected, oldest first. `stopFaults` keeps them. */
  get faults(): readonly RecordedFault[] {
    this.service.clock.catchUp();
    return this.service.faults;
  }

  /**
   * Sends a request to a public endpoint of the account, as a client on the internet would. The policies answer it on this machine,
   * as the public service's documentation describes them. Redirects are not followed.
   *
   * ```ts
   * const reply = await emulator.fetch("https://shop.example.com/admin", { clientIp: "203.0.113.7" });
   * expect(reply.status).toBe(403);
   * ```
   *
   * @throws ConnectionClosed if a policy closes the connection.
   * @throws RequestNotSimulated if the reply depends on something that only the service knows, or that the options do not give.
   */
  async fetch(url: string | URL, options: FetchOptions = {}): Promise<EndpointReply> {
    return fetchReply(this.reachable, url, options);
  }

  /**
   * Answers HTTP on 127.0.0.1 like `fetch`, for the endpoint that the header `Host` names. If there is no reply, the client gets the
   * reason, with 502 if the application failed, or else with 501. `close` ends it.
   *
   * @returns The port.
   */
  async serve({ port = 0, ...options }: ServeOptions = {}): Promise<number> {
    const server = createServer((incoming, response) => {
      // After the beginning of a reply, only its end can tell that it failed.
      serveRequest(incoming, response, this.reachable, options).catch(() => response.destroy());
    });
    this.servers.push(server);
    return listen(server, port);
  }

  /**
   * Connects an application to an agent's endpoint, which then gets the requests that policies forward to it. Adds the endpoint if
   * the account has none with this URL. With an agent's configuration, all of its endpoints get its policies and an application.
   *
   * ```ts
   * emulator.connect("https://shop.internal", () => new Response("the shop"));
   * emulator.connect({ config: String(outputs.agentConfig) }, (request) => new Response(request.url));
   * ```
   *
   * @param agent The URL of an endpoint; or the text of the configuration file that `WebhookVerification` writes.
   * @param application A function, or the URL of a local server without a path. Default: the upstreams in the configuration.
   * @returns The endpoints, in the order of the configuration. One without a URL gets a random one.
   * @throws Error if the configuration is invalid, if nothing could reach an endpoint, or if it is a cloud endpoint.
   */
  connect(url: string, application: Application): WireEndpoint[];
  connect(agent: { config: string }, application?: Application): WireEndpoint[];
  connect(agent: string | { config: string }, application?: Application): WireEndpoint[] {
    if (typeof agent === "string") return [this.connectOne({ url: agent, upstream: application })];
    return agentEndpoints(agent.config).map((endpoint) =>
      this.connectOne({ ...endpoint, upstream: application ?? endpoint.upstream }),
    );
  }

  private connectOne({ url, policy, upstream }: Connection): WireEndpoint {
    const isLocal = (text: string) => URL.canParse(text) && /^https?:\/\/[^/?#]+\/?$/.test(text);
    if (typeof upstream !== "function" && !(upstream && isLocal(upstream)))
      throw new TypeError(`${upstream} is no URL of a local server without a path`);
    const { url: at = "", proto, internal } = url === undefined ? { proto: "https" } : parseUrl(url);
    if (!/^https?$/.test(proto))
      throw new Error(`${at} gets no requests here: only https and http are simulated`);
    const existing = at ? this.endpoints.find((endpoint) => endpoint.url === at) : undefined;
    if (existing?.type === "cloud") throw new Error(`${at} is a cloud endpoint, which has no application`);
    const binding = internal ? "internal" : "public";
    if (existing && !existing.bindings?.includes(binding))
      throw new Error(`nothing reaches ${at}, because ${binding} is none of its bindings`);
    const endpoint = existing ?? this.seed({ type: "ephemeral", ...(at && { url: at }) });
    this.applications.set(endpoint.id, upstream);
    if (policy === undefined) return endpoint;
    return this.edit(endpoint.id, { traffic_policy: JSON.stringify(policy) });
  }

  /** Drops open connections and stops all servers. Resolves when the ports are free. Can be called twice. */
  async close(): Promise<void> {
    this.service.closing.abort();
    const all = [this.server, ...this.servers];
    const closed = all.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const server of all) server.closeAllConnections();
    await Promise.all(closed);
  }

  /** Calls `close`, at the end of the block of an `await using`. */
  readonly [Symbol.asyncDispose] = () => this.close();

  private readonly reachable = () =>
    this.endpoints.map((endpoint) => ({ ...endpoint, application: this.applications.get(endpoint.id) }));

  /** The accounts, after all delayed effects that are due. */
  private get accounts(): ServiceAccounts {
    this.service.clock.catchUp();
    return this.service.accounts;
  }

  private holderOf(id: string, purpose: string): Store {
    const store = this.accounts.holderOf(id);
    if (store) return store;
    throw new Error(`there is no endpoint ${id} to ${purpose}`);
  }
}
