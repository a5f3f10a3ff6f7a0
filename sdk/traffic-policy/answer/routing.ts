import { isIP } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { isMapping } from "../../../provider/data/json";
import { namesOfExpressions } from "../policy/cel";
import type { Variables } from "./evaluate";
import { toApplication } from "./http";
import type { Header, PolicyRequest } from "./messages";
import type { Application, ConnectionOptions, FetchOptions } from "./options";
import { EndpointReply } from "./reply";
import { normalUrl } from "./request";
import { mapLeaves, type RequestDeps, type Target } from "./run";
import { answerRequest } from "./runner";
import { ApplicationFailed, notSimulated, RequestFailed, RequestNotSimulated } from "./trace";
import { headerOf } from "./values";

/* Finds the endpoint that answers a request, and sends the request there. */

/** An endpoint that requests can reach. Its fields have the service's names. */
export interface ReachableEndpoint {
  id?: string | undefined;
  type?: string | undefined;
  url?: string | undefined;
  /** The URL of an edge, which has no `url`. */
  public_url?: string | undefined;
  proto?: string | undefined;
  hostport?: string | undefined;
  bindings?: readonly string[] | undefined;
  traffic_policy?: unknown;
  /** What is behind the endpoint of an agent. */
  application?: Application | undefined;
}

/** Lists the endpoints that requests can reach now. */
export type ListEndpoints = () => readonly ReachableEndpoint[];

/** The most URLs that a message lists. */
const MAX_SHOWN = 10;

/** Sends a request as a client on the internet would, and receives the whole reply. */
export async function fetchReply(
  endpoints: ListEndpoints,
  url: string | URL,
  options: FetchOptions,
): Promise<EndpointReply> {
  const request = requestOf(`${url}`, options);
  const { reply, trace } = await answerFor(endpoints, request, options);
  if (request.method === "HEAD") return new EndpointReply({ ...reply, body: Buffer.alloc(0) }, trace);
  const body = reply.body instanceof Readable ? await buffer(reply.body) : reply.body;
  return new EndpointReply({ ...reply, body }, trace);
}

/** Answers a request by the public endpoint with its URL. @throws RequestFailed if there is no endpoint, or no reply. */
export function answerFor(endpoints: ListEndpoints, request: PolicyRequest, options: ConnectionOptions) {
  const deps = requestDeps(request.url, options, (url) => findTarget(endpoints, url, "internal"));
  const target = findTarget(endpoints, request.url, "public");
  if (!target) {
    const urls = endpoints()
      .filter(({ bindings }) => bindings?.includes("public"))
      .map(({ url, public_url }) => url ?? public_url);
    throw new RequestFailed(
      `no public endpoint answers ${request.url}; the account has ${urls.slice(0, MAX_SHOWN).join(", ") || "none"}${urls.length > MAX_SHOWN ? ", …" : ""}`,
    );
  }
  const { protocol, host } = new URL(request.url);
  const added: Header[] = [
    ["x-forwarded-for", deps.clientIp],
    ["x-forwarded-host", host],
    ["x-forwarded-proto", protocol.slice(0, -1)],
  ];
  return answerRequest(target, { ...request, added }, deps);
}

/** The dependencies of a request, from the options. @param find Finds the internal endpoint with a URL. */
export function requestDeps(
  url: string,
  { clientIp = "127.0.0.1", conn = {}, vaults = {}, now = () => new Date(), rateLimited }: ConnectionOptions,
  find: RequestDeps["findInternal"],
) {
  if (isIP(clientIp) === 0) throw new TypeError("clientIp must be an IP address");
  const findInternal = (target: string) => {
    // The documentation asks for the same protocol, but does not say whether this also holds between http and https.
    const isSame = new URL(url).protocol === new URL(target).protocol;
    return isSame ? find(target) : notSimulated(`forwarding from ${url} to ${target}`);
  };
  return { clientIp, conn: connectionVariables(conn), now, vaults, findInternal, rateLimited };
}

/**
 * Finds the endpoint with the scheme and host of a URL. A wildcard has all hosts below it: `*.example.com` has `a.b.example.com`.
 *
 * @throws RequestNotSimulated if several endpoints have them, or an edge.
 */
export function findTarget(endpoints: ListEndpoints, url: string, binding: string): Target | undefined {
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
  if (found.length > 1) notSimulated(`the choice between ${found.length} endpoints for ${url}`);
  if (type === "edge") notSimulated(`the edge ${url}`);
  const application = async (request: PolicyRequest) => {
    const connected =
      endpoint.application ??
      notSimulated(`the application of the agent's endpoint ${url}, which the test did not connect,`);
    return toApplication(connected, request).catch((error: unknown) => {
      if (error instanceof RequestNotSimulated || request.signal?.aborted) throw error;
      throw new ApplicationFailed(`the application of ${url} failed: ${reasonOf(error)}`);
    });
  };
  return { url: endpoint.url ?? url, id, policy, ...(type !== "cloud" && { application }) };
}

/** The variables below `conn` that a test gives, by their whole names. */
function connectionVariables(given: Record<string, unknown>): Variables {
  const known = namesOfExpressions().variables;
  const named = (value: unknown, name: string): [string, () => unknown][] => {
    if (isMapping(value) && [...known.keys()].some((each) => each.startsWith(`${name}.`)))
      return Object.entries(value).flatMap(([key, part]) => named(part, `${name}.${key}`));
    if (known.has(name)) return [[name, () => typedValue(value)]];
    throw new TypeError(`${name} is no documented variable`);
  };
  return Object.fromEntries(named(given, "conn"));
}

/** The value as expressions need it, with `bigint` for integers. */
const typedValue = (value: unknown): unknown =>
  mapLeaves(value, (leaf) => (Number.isInteger(leaf) ? BigInt(leaf as number) : leaf));

/** The request that a client with these options would send. */
export function requestOf(
  url: string,
  { method = "GET", headers = {}, body = "" }: FetchOptions,
): PolicyRequest {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new TypeError("the URL must begin with https:// or http://");
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("body must be text or bytes; JSON.stringify an object, and String() parameters");
  // Clients send the question mark of an empty query, and the documentation does not say whether a policy sees it.
  if (/\?(?:#|$)/.test(url)) notSimulated(`the empty query of ${url}`);
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
