import { createServer, type Server } from "node:http";
import type { WireEndpoint } from "../../../provider/api/contract";
import { listen } from "../listen";
import type { RecordedRequest } from "../types";
import { type Behaviour, type Busy, behaviourOf } from "./behaviour";
import { Disturbances, type DisturbOptions, type RecordedFault } from "./disturbance";
import { createRival, metBy, type RivalTime } from "./faults";
import { Accounts, type KeyOptions } from "./keys";
import { type Match, type ScriptedReply, Scripts } from "./script";
import { type Host, listener } from "./server";
import { Clock, type RateLimit, RateWindow } from "./serviceClock";
import { addressOf, placeOf } from "./serviceRules";
import { endpointOf, type Seed, Store } from "./store";

export interface EmulatorOptions extends Partial<Behaviour> {
  /** The key that is accepted until `addKey` adds others. Default: a random one of the service's form. */
  apiKey?: string;
  /** Name of the header that must hold the API version, `2`. Default: `Service-Version`. */
  versionHeader?: string;
  /** A path that stands before the API's own, such as `/api/v2`. Default: none. */
  basePath?: string;
  /** The service's clock, for `created_at`, `updated_at` and the `Date` header. Default: this machine's. */
  now?: () => Date;
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
 * and limits. What depends on an account's plan is not imitated: reserved domains, and rate limits unless one is given.
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
  private constructor(
    private readonly server: Server,
    private readonly host: Host,
    /** `http://127.0.0.1:PORT` and the base path, without a slash at the end. */
    readonly baseUrl: string,
    /** A key that is accepted in `Authorization: Bearer …`. */
    readonly apiKey: string,
    /** Name of the header that must hold the API version, `2`. */
    readonly versionHeader: string,
  ) {}

  /** Starts to listen. Fails with Node's `EADDRINUSE` where the given port is taken. */
  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const { now = () => new Date(), onAnswer = () => {}, rateLimit, port: wanted = 0, ...rest } = options;
    const { apiKey, basePath: path = "", versionHeader = "Service-Version", ...behaviour } = rest;
    const basePath = `/${path}`.replace(/\/+/g, "/").replace(/\/$/, "");
    const host: Omit<Host, "accounts"> = {
      behaviour: behaviourOf(behaviour),
      versionHeader,
      basePath,
      scripts: new Scripts(),
      disturbances: new Disturbances(),
      requests: [],
      rivals: [],
      onAnswer,
      clock: new Clock(now),
      rate: rateLimit && new RateWindow(rateLimit),
      closing: new AbortController(),
    };
    // Longer than a client keeps an idle connection, so that the server never closes one as it is used again.
    const server = createServer({ keepAliveTimeout: 120_000 });
    const port = await listen(server, wanted);
    const baseUrl = `http://127.0.0.1:${port}${basePath}`;
    const accounts = new Accounts((owner) => new Store(baseUrl, host.clock, () => host.behaviour, owner));
    const whole = Object.assign(host, { accounts });
    server.on("request", listener(whole));
    server.on("clientError", (_error, socket) => socket.destroy());
    return new Emulator(server, whole, baseUrl, accounts.add(apiKey ? { apiKey } : {}), versionHeader);
  }

  /** Changes how the service behaves from now on; what is not given stays. */
  behave(change: Partial<Behaviour>): void {
    this.host.behaviour = behaviourOf(change, this.host.behaviour);
  }

  /**
   * Accepts another key, and returns it: without options one of the same user, as after a rotation; with a `principal`
   * a colleague's; with an `account` one that opens endpoints of its own.
   */
  addKey(options: KeyOptions = {}): string {
    return this.host.accounts.add(options);
  }

  /**
   * All requests so far, in order of arrival, scripted ones too. A request that is still being answered has the
   * status 0. The API key is never in it.
   */
  get requests(): readonly RecordedRequest[] {
    return this.host.requests;
  }

  /** A copy of all endpoints as a read by id shows them, newest first. */
  get endpoints(): WireEndpoint[] {
    return this.endpointsOf();
  }

  /** Those of an account that was named to `addKey`. Default: the account of `apiKey`. */
  endpointsOf(account?: string): WireEndpoint[] {
    return structuredClone(this.accounts.store(account).newestFirst() ?? []);
  }

  /**
   * Puts an endpoint there without a request. What is not given is filled in as the service fills it for that type;
   * a cloud endpoint's fields follow from its `url`, an edge's from its `public_url`. No rule is checked, so two
   * endpoints can be put on one URL. It belongs to the account of `apiKey` unless another one is named. Throws where the
   * id is taken, or the URL is none.
   */
  seed(seed: Seed, account?: string): WireEndpoint {
    const store = this.accounts.store(account);
    const endpoint = endpointOf(structuredClone(seed), store);
    if (this.accounts.holderOf(endpoint.id)) throw new Error(`there is already an endpoint ${endpoint.id}`);
    const created = Date.parse(seed.created_at ?? "");
    return structuredClone(store.insert(endpoint, Number.isNaN(created) ? undefined : created));
  }

  /**
   * Overwrites fields as another client would, without a request and without rules; `undefined` removes a field. Fields
   * derived from a new `url` follow it unless they are given, and so does `updated_at`. Throws for an unknown id.
   */
  edit(id: string, change: Edit): WireEndpoint {
    return structuredClone(this.holderOf(id, "edit").overwrite(id, structuredClone(change)));
  }

  /** Deletes an endpoint of any type as another client would, without a request. Throws for an unknown id. */
  remove(id: string): void {
    this.holderOf(id, "remove").delete(id);
  }

  /** Refuses creates on a URL that is free for a while, as after its domain was reserved. */
  busy(url: string, busy: Busy): void {
    this.accounts.store().keepBusy(placeOf(addressOf(url)), busy);
  }

  /**
   * Gives the next `times` requests that match (default: 1) a scripted reply, before credentials are checked and
   * without any effect on the endpoints, unless the reply has `afterCommit: true`. Of several scripts, the one that
   * was added first takes the request.
   */
  intercept(match: Match, reply: ScriptedReply, times = 1): void {
    this.host.scripts.add(match, reply, times);
  }

  /**
   * Lets the next create that matches meet a rival: another client that creates an endpoint with the same URL and content,
   * and with `fields` over it. The rival comes just before the create, just after it, or instead of it, so that the create
   * has no effect. The client gets `reply`; by default the real answer, or for `instead` a reset. The rival is bound by
   * the service's rules: where equal URLs are refused, the second one gets none.
   */
  rival(
    when: RivalTime,
    { match = "create", fields = {}, reply }: { match?: Match; fields?: Edit; reply?: ScriptedReply } = {},
  ): void {
    const shown = reply ?? (when === "instead" ? { reset: true } : { afterCommit: true });
    const meeting = { store: this.host.accounts.store(), rivals: this.host.rivals };
    this.intercept(
      match,
      metBy(when, shown, (request) => createRival(meeting, request, fields)),
    );
  }

  /** The ids that rivals created. */
  get rivals(): readonly string[] {
    return this.host.rivals;
  }

  /**
   * Hits requests with faults that a seeded generator draws, until `calm`; a disturbance that is on already is
   * replaced. A script of `intercept` takes its request first. Throws a `RangeError` for a probability that is none.
   */
  disturb(options: DisturbOptions): void {
    this.host.disturbances.begin(options);
  }

  /** Ends `disturb`. Clients that a fault keeps waiting go on waiting. */
  calm(): void {
    this.host.disturbances.end();
  }

  /** What `disturb` did so far, in the order in which it was done, also after `calm`. */
  get faults(): readonly RecordedFault[] {
    this.host.clock.catchUp();
    return this.host.disturbances.log;
  }

  /** Drops open connections. Resolves when the port is free; a second call changes nothing. */
  async close(): Promise<void> {
    this.host.closing.abort();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /** As they are by now. */
  private get accounts(): Accounts {
    this.host.clock.catchUp();
    return this.host.accounts;
  }

  private holderOf(id: string, purpose: string): Store {
    const store = this.accounts.holderOf(id);
    if (store) return store;
    throw new Error(`there is no endpoint ${id} to ${purpose}`);
  }
}
