import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { namesOfExpressions } from "../../../provider/policy/cel";
import type { WireEndpoint } from "../../../provider/service/contract";
import { isMapping } from "../../../provider/service/json";
import type { Values } from "./expressions";
import { type Application, receive, respond, toApplication } from "./http";
import { normalUrl } from "./request";
import type { RequestDeps, Target } from "./run";
import { answerRequest } from "./runner";
import {
  ApplicationFailed,
  ConnectionClosed,
  RequestFailed,
  RequestNotSimulated,
  refuse,
  type TracedRule,
} from "./trace";
import { type Header, headerOf, type PolicyReply, type PolicyRequest } from "./values";

/* Requests to the endpoints of an emulated account. */

export interface FetchOptions {
  /** The method of the request. Default: `GET`. */
  method?: string;
  /** Headers by name, or a list of names and values, in which a name can occur again. Default: only `Host`. */
  headers?: Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;
  /** The body of the request. Default: none. */
  body?: string | Uint8Array;
  /** The client's address, `conn.client_ip`. Default: `127.0.0.1`. */
  clientIp?: string;
  /**
   * Further variables below `conn`, which only the service knows: `{ geo: { country_code: "DE" }, tls: { sni: "…" } }`. An expression that
   * needs one that is not given fails the request.
   */
  conn?: Record<string, unknown>;
  /** The service's vaults, for `secrets.get`: `{ webhooks: { brex: "…" } }`. Default: none. */
  vaults?: Record<string, Record<string, string>>;
  /** Whether `rate-limit` limits the request. Without it, a rule with `rate-limit` fails the request. */
  rateLimited?: boolean;
  /** The clock for `time.now` and signed times. Default: this machine's clock. */
  now?: () => Date;
}

/** What the client's connection and the service bring to a request. */
export type ConnectionOptions = Omit<FetchOptions, "method" | "headers" | "body">;

/** A reply that has been received as a whole. */
export interface ReceivedReply extends PolicyReply {
  body: Buffer | "unknown";
}

/** Fails when it is read. */
const unknownText = (status: number) =>
  new ReadableStream({
    pull: () => {
      throw new Error(`the text of this ${status} is not simulated; only the service knows it`);
    },
  });

/** The reply of an emulated endpoint, with what its policy did. */
export class EndpointReply extends Response {
  /** The rules in order, also those that were not reached. */
  readonly trace: readonly TracedRule[];

  constructor({ status, headers, body }: ReceivedReply, trace: readonly TracedRule[]) {
    const isEmpty = body.length === 0 || [204, 205, 304].includes(status);
    super(isEmpty ? null : body === "unknown" ? unknownText(status) : new Uint8Array(body), {
      status,
      headers: headers.map(([name, value]) => [name, value]),
    });
    this.trace = trace;
  }
}

/** The endpoints that requests can reach. */
export interface Account {
  endpoints: () => readonly WireEndpoint[];
  /** By the ids of agents' endpoints. */
  applications: ReadonlyMap<string, Application>;
}

/** @throws RequestNotSimulated otherwise, because the documentation demands the same protocol, but not plainly of these two. */
export const sameScheme = (url: string, other: string): true =>
  new URL(url).protocol === new URL(other).protocol || refuse(`forwarding from ${url} to ${other}`);

/** The most URLs in a message. */
const MOST_SHOWN = 10;

/** @throws RequestFailed if there is no endpoint, or no reply. */
export function answerFor(account: Account, request: PolicyRequest, options: ConnectionOptions) {
  const { clientIp = "127.0.0.1", conn = {}, vaults = {}, now = () => new Date(), rateLimited } = options;
  if (isIP(clientIp) === 0) throw new TypeError("clientIp must be an IP address");
  const target = targetAt(account, request.url, "public");
  if (!target) {
    const urls = account
      .endpoints()
      .filter(({ bindings }) => bindings?.includes("public"))
      .map(({ url, public_url }) => url ?? public_url);
    throw new RequestFailed(
      `no public endpoint answers ${request.url}; the account has ${urls.slice(0, MOST_SHOWN).join(", ") || "none"}${urls.length > MOST_SHOWN ? ", …" : ""}`,
    );
  }
  const internal = (url: string) => sameScheme(request.url, url) && targetAt(account, url, "internal");
  const deps: RequestDeps = { clientIp, given: connectionValues(conn), now, vaults, internal, rateLimited };
  const { protocol, host } = new URL(request.url);
  const added: Header[] = [
    ["x-forwarded-for", clientIp],
    ["x-forwarded-host", host],
    ["x-forwarded-proto", protocol.slice(0, -1)],
  ];
  return answerRequest(target, { ...request, added }, deps);
}

/**
 * The endpoint with a scheme and a host, also one of a wildcard: `*.example.com` has `a.b.example.com`, too.
 *
 * @throws RequestNotSimulated if there are several, or an edge.
 */
function targetAt({ endpoints, applications }: Account, url: string, binding: string): Target | undefined {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  const address = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  const all = endpoints().filter(
    ({ proto, bindings }) => `${proto}:` === protocol && bindings?.includes(binding),
  );
  const exact = all.filter(({ hostport }) => hostport === address);
  const wildcards = all.filter(
    ({ hostport }) => hostport?.startsWith("*.") && address.endsWith(hostport.slice(1)),
  );
  const found = exact.length > 0 ? exact : wildcards;
  const [endpoint] = found;
  if (!endpoint) return undefined;
  const { id, type, traffic_policy: policy } = endpoint;
  if (found.length > 1) refuse(`the choice between ${found.length} endpoints for ${url}`);
  if (type === "edge") refuse(`the edge ${url}`);
  const application = async (request: PolicyRequest) => {
    const connected =
      applications.get(id) ??
      refuse(`the application of the agent's endpoint ${url}, which the test did not connect,`);
    return toApplication(connected, request).catch((error: unknown) => {
      if (error instanceof RequestNotSimulated || request.signal?.aborted) throw error;
      throw new ApplicationFailed(`the application of ${url} failed: ${reasonOf(error)}`);
    });
  };
  return { url: endpoint.url ?? url, id, policy, ...(type !== "cloud" && { application }) };
}

/** The variables below `conn` that a test gives, by their whole names. Integers are those of expressions. */
function connectionValues(given: Record<string, unknown>): Values {
  const known = namesOfExpressions().variables;
  const named = (value: unknown, name: string): [string, () => unknown][] => {
    if (isMapping(value) && [...known.keys()].some((each) => each.startsWith(`${name}.`)))
      return Object.entries(value).flatMap(([key, part]) => named(part, `${name}.${key}`));
    if (known.has(name)) return [[name, () => forExpressions(value)]];
    throw new TypeError(`${name} is no documented variable`);
  };
  return Object.fromEntries(named(given, "conn"));
}

function forExpressions(value: unknown): unknown {
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(forExpressions);
  if (!isMapping(value) || value instanceof Date || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, forExpressions(part)]));
}

/** The request that a client with these options would send. */
export function requestOf(
  url: string,
  { method = "GET", headers = {}, body = "" }: FetchOptions,
): PolicyRequest {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new TypeError("the URL must begin with https:// or http://");
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("body must be text or bytes; JSON.stringify an object, and String() parameters");
  // Clients send its question mark, and whether a policy sees it is open.
  if (/\?(?:#|$)/.test(url)) refuse(`the empty query of ${url}`);
  const { host, username, password } = new URL(url);
  if (username || password) throw new TypeError("the URL must have no user name and no password");
  const sent: Header[] = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const has = (name: string) => headerOf(sent, name) !== undefined;
  const bytes = Buffer.from(body);
  if (!has("host")) sent.unshift(["host", host]);
  if (bytes.length > 0 && !has("content-length")) sent.push(["content-length", `${bytes.length}`]);
  return { method: method.toUpperCase(), url: normalUrl(url), headers: sent, body: bytes };
}

const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message || ("code" in error ? `${error.code}` : error.name) : `${error}`;

/** A request to the server of `emulator.serve`, with what the policies did. */
export interface ServedRequest {
  method: string;
  url: string;
  /** 0 if the policy closed the connection. */
  status: number;
  trace: readonly TracedRule[];
  /** Why there is no reply. */
  problem?: string;
}

export interface ServeOptions extends ConnectionOptions {
  /** The port on 127.0.0.1. Default: a free one. */
  port?: number;
  /** Called after each request. */
  onReply?: (served: ServedRequest) => void;
}

/** Answers for the endpoint that the header `Host` names: one with https if there is one, as `curl` sends plain HTTP here. */
export async function serveRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  account: Account,
  { onReply = () => {}, ...options }: ServeOptions,
): Promise<void> {
  const host = (incoming.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  const { method = "", url: path = "" } = incoming;
  let url = `https://${host}${path}`;
  let reply: PolicyReply;
  try {
    const has = (scheme: string) => targetAt(account, `${scheme}://${host}`, "public") !== undefined;
    if (!has("https") && has("http")) url = `http://${host}${path}`;
    const request = await receive(incoming, response, url);
    request.headers = request.headers.map(([name, value]) => [
      name,
      name.toLowerCase() === "host" ? host : value,
    ]);
    const answer = await answerFor(account, request, options);
    reply = answer.reply;
    onReply({ method, url, status: reply.status, trace: answer.trace });
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const status = statusOf(error);
    onReply({ method, url, status, trace: error.trace, problem: error.message });
    if (status === 0) return void response.destroy();
    const body = Buffer.from(`${error.message}\n`);
    reply = { status, headers: [["content-type", "text/plain"]], body };
  }
  await respond(response, reply);
}

/** The status that a client gets here if there is no reply; 0 if the connection is closed. */
function statusOf(error: RequestFailed): number {
  if (error instanceof ConnectionClosed) return 0;
  return error instanceof ApplicationFailed ? 502 : 501;
}
