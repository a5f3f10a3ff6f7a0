import { isMapping } from "../data/json";
import { derivedFromUrl, normalizeUrl, urlProblem } from "../data/url";
import type { Application, FetchOptions } from "./options";
import type { EndpointReply } from "./reply";
import { fetchReply, type ReachableEndpoint } from "./routing";

/** The endpoint of an agent, with an application behind it. */
export interface AgentEndpoint {
  /** A function, or the URL of a local server without a path. */
  application: Application;
  /** The policy of the agent's endpoint. Default: none. */
  policy?: object | string;
}

/** What answers at a URL: a policy, as data or as text; the application of an agent; or both. */
export type AccountEndpoint = object | string | Application | AgentEndpoint;

/**
 * An account whose endpoints answer requests on this machine, by their policies and the public service's documentation. Nothing
 * is sent to the service. A request fails where the documentation does not say what happens: no reply is guessed.
 *
 * ```ts
 * const account = new Account({
 *   "https://shop.example.com": readFileSync("policy.yaml", "utf8"),
 *   "https://shop.internal": () => new Response("hello"),
 * });
 * const reply = await account.fetch("https://shop.example.com/admin", { clientIp: "203.0.113.7" });
 * expect(reply.status).toBe(403);
 * expect(reply.trace[0]).toMatchObject({ outcome: "matched" });
 * ```
 */
export class Account {
  private readonly endpoints: readonly ReachableEndpoint[];

  /**
   * @param endpoints By URL: a cloud endpoint's policy, or what is behind an agent's endpoint. Only `forward-internal` reaches
   *   hosts that end with `.internal`, and only `fetch` reaches the others. `https://*.example.com` has all hosts below it.
   * @throws TypeError if a URL is not the URL of an http or https endpoint.
   */
  constructor(endpoints: Readonly<Record<string, AccountEndpoint>>) {
    this.endpoints = Object.entries(endpoints).map(([url, endpoint]) => endpointAt(url, endpoint));
  }

  /**
   * Sends a request to a public endpoint, as a client on the internet would. Redirects are not followed.
   *
   * @throws RequestFailed if no endpoint has the URL.
   * @throws ConnectionClosed if a policy closes the connection.
   * @throws RequestNotSimulated if the reply depends on something that only the service knows, or that the options do not give.
   * @throws ApplicationFailed if the application gives no reply.
   */
  async fetch(url: string | URL, options: FetchOptions = {}): Promise<EndpointReply> {
    return fetchReply(() => this.endpoints, url, options);
  }
}

function endpointAt(written: string, endpoint: AccountEndpoint): ReachableEndpoint {
  const url = normalizeUrl(written);
  const derived = derivedFromUrl(written);
  if (url === undefined || derived === undefined) throw new TypeError(`${written} ${urlProblem(written)}`);
  if (!/^https?$/.test(derived.proto))
    throw new TypeError(`${url} gets no requests here: only https and http are simulated`);
  const address = {
    url,
    proto: derived.proto,
    hostport: derived.hostport,
    bindings: [/\.internal$/.test(derived.publicUrl.replace(/:\d+$/, "")) ? "internal" : "public"],
  };
  if (typeof endpoint === "function")
    return { ...address, type: "ephemeral", application: endpoint as Application };
  if (isMapping(endpoint) && "application" in endpoint) {
    const { application, policy } = endpoint as unknown as AgentEndpoint;
    return { ...address, type: "ephemeral", application, traffic_policy: policy };
  }
  return { ...address, type: "cloud", traffic_policy: endpoint };
}
