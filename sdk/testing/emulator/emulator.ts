import { createServer, type Server } from "node:http";
import type { WireEndpoint } from "../../../provider/wire";
import type { RecordedRequest } from "../types";
import { Disturbances, type DisturbOptions, type RecordedFault } from "./disturbance";
import { newApiKey } from "./ids";
import { listen } from "./listen";
import { type RateLimit, RateWindow } from "./rateLimit";
import { type ScriptedReply, Scripts } from "./script";
import { endpointOf, type Seed } from "./seed";
import { listener } from "./server";
import { Store } from "./store";

export type { Seed } from "./seed";

export interface EmulatorOptions {
  /** The one key that is accepted. Default: a random one of the service's form. */
  apiKey?: string;
  /** Name of the header that must hold the API version, `2`. Default: `Service-Version`. */
  versionHeader?: string;
  /** A path that stands before the API's own, such as `/api/v2`. Default: none. */
  basePath?: string;
  /** The service's clock, for `created_at`, `updated_at` and the `Date` header. Default: this machine's. */
  now?: () => Date;
  /** Refuse a create without a traffic policy, as the public service does. Default: false, as the contract has it. */
  requirePolicy?: boolean;
  /** Most endpoints on a page of the list, whatever `limit` asks for. Default: 100. */
  pageSize?: number;
  /**
   * Refuse requests beyond this many in a rolling window by the emulator's clock, with 429 and the code 226, after
   * credentials and version are checked. Refused requests do not count, scripted replies do. Default: no limit.
   */
  rateLimit?: RateLimit;
  /** The port on 127.0.0.1. Default: a free one. */
  port?: number;
  /** Called with each request once it is answered, or with the status 0 once it is clear that it never will be. */
  onAnswer?: (request: RecordedRequest) => void;
}

/** Fields to overwrite; `undefined` removes one. */
export type Edit = Partial<WireEndpoint>;

/**
 * The service on loopback: a real HTTP server that holds endpoints in memory, with the public service's error codes
 * and limits. What depends on an account is not imitated: reserved domains, plans, and rate limits unless one is given.
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
  private readonly log: RecordedRequest[] = [];
  private readonly closing = new AbortController();
  private readonly scripts = new Scripts();
  private readonly disturbances = new Disturbances();

  private constructor(
    private readonly server: Server,
    private readonly store: Store,
    /** `http://127.0.0.1:PORT` and the base path, without a slash at the end. */
    readonly baseUrl: string,
    /** The key that is accepted in `Authorization: Bearer …`. */
    readonly apiKey: string,
    /** Name of the header that must hold the API version, `2`. */
    readonly versionHeader: string,
  ) {}

  /** Starts to listen. Fails with Node's `EADDRINUSE` where the given port is taken. */
  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const { apiKey = newApiKey(), versionHeader = "Service-Version", now = () => new Date() } = options;
    const { requirePolicy = false, pageSize = 100, onAnswer = () => {} } = options;
    if (!(pageSize >= 1)) throw new RangeError(`pageSize must be at least 1, not ${pageSize}`);
    const rate = options.rateLimit && new RateWindow(options.rateLimit);
    const basePath = `/${options.basePath ?? ""}`.replace(/\/+/g, "/").replace(/\/$/, "");
    // Longer than a client keeps an idle connection, so that the server never closes one as it is used again.
    const server = createServer({ keepAliveTimeout: 120_000 });
    const port = await listen(server, options.port ?? 0);
    const baseUrl = `http://127.0.0.1:${port}${basePath}`;
    const store = new Store(baseUrl, now);
    const emulator = new Emulator(server, store, baseUrl, apiKey, versionHeader);
    const { scripts, disturbances, log: requests, closing } = emulator;
    const settings = {
      apiKey,
      versionHeader,
      basePath,
      baseUrl,
      requirePolicy,
      pageSize,
      rate,
      onAnswer,
      now,
    };
    const doings = { store, scripts, disturbances, requests, closing: closing.signal };
    server.on("request", listener({ ...settings, ...doings }));
    server.on("clientError", (_error, socket) => socket.destroy());
    return emulator;
  }

  /**
   * All requests so far, in order of arrival, scripted ones too. A request that is still being answered has the
   * status 0. The API key is never in it.
   */
  get requests(): readonly RecordedRequest[] {
    return this.log;
  }

  /** A copy of all endpoints as a read by id shows them, newest first. */
  get endpoints(): WireEndpoint[] {
    return structuredClone(this.store.newestFirst() ?? []);
  }

  /**
   * Puts an endpoint there without a request. What is not given is filled in as the service fills it for that type;
   * a cloud endpoint's fields follow from its `url`, an edge's from its `public_url`. No rule is checked, so two
   * endpoints can be put on one URL. Throws where the id is taken, or the URL is none.
   */
  seed(seed: Seed): WireEndpoint {
    const endpoint = endpointOf(structuredClone(seed), this.baseUrl, this.store);
    if (this.store.get(endpoint.id)) throw new Error(`there is already an endpoint ${endpoint.id}`);
    return structuredClone(this.store.insert(endpoint));
  }

  /**
   * Overwrites fields as somebody else would, without a request and without rules; `undefined` removes a field. What
   * follows from a new `url` follows unless it is given. Sets `updated_at` unless it is given. Throws for an unknown id.
   */
  edit(id: string, change: Edit): WireEndpoint {
    const before = this.store.get(id);
    if (!before) throw new Error(`there is no endpoint ${id} to edit`);
    return structuredClone(this.store.overwrite(before, structuredClone(change)));
  }

  /** Deletes an endpoint of any type as somebody else would, without a request. Throws for an unknown id. */
  remove(id: string): void {
    if (!this.store.delete(id)) throw new Error(`there is no endpoint ${id} to remove`);
  }

  /**
   * Gives the next `times` requests that match (default: 1) a scripted reply, before credentials are checked and
   * without any effect on the endpoints, unless the reply has `afterCommit: true`. Of several scripts, the one that
   * was added first takes the request.
   */
  intercept(match: (request: RecordedRequest) => boolean, reply: ScriptedReply, times = 1): void {
    this.scripts.add(match, reply, times);
  }

  /**
   * Hits requests with faults that a seeded generator draws, until `calm`; a disturbance that is on already is
   * replaced. A script of `intercept` takes its request first. Throws a `RangeError` for a probability that is none.
   */
  disturb(options: DisturbOptions): void {
    this.disturbances.begin(options);
  }

  /** Ends `disturb`. Clients that a fault keeps waiting go on waiting. */
  calm(): void {
    this.disturbances.end();
  }

  /** What `disturb` did so far, in the order in which it was done, also after `calm`. */
  get faults(): readonly RecordedFault[] {
    return this.disturbances.log;
  }

  /** Drops open connections. Resolves when the port is free; a second call changes nothing. */
  async close(): Promise<void> {
    this.closing.abort();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }
}
