import type { TracedRule } from "./trace";

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
   * Further variables below `conn`, which only the service knows: `{ geo: { country_code: "DE" }, tls: { sni: "…" } }`. A request
   * fails if an expression needs a variable that is not given.
   */
  conn?: Record<string, unknown>;
  /** The service's vaults, for `secrets.get`: `{ webhooks: { brex: "…" } }`. Default: none. */
  vaults?: Record<string, Record<string, string>>;
  /** Whether `rate-limit` limits the request. Without it, a rule with `rate-limit` fails the request. */
  rateLimited?: boolean;
  /** The clock for `time.now` and signed times. Default: this machine's clock. */
  now?: () => Date;
}

/** The facts about a request that come from the client's connection and from the service. */
export type ConnectionOptions = Omit<FetchOptions, "method" | "headers" | "body">;

/** The application behind an agent's endpoint: a function, or the URL of a local server without a path. */
export type Application = string | ((request: Request) => Response | Promise<Response>);

/** A request that an emulator's server received, with what the policies did. */
export interface ServedRequest {
  method: string;
  url: string;
  /** 0 if the policy closed the connection. */
  status: number;
  trace: readonly TracedRule[];
  /** Why there is no reply. Missing if there is a reply. */
  problem?: string;
}

export interface ServeOptions extends ConnectionOptions {
  /** The port on 127.0.0.1. Default: a free one. */
  port?: number;
  /** Called after each request. */
  onReply?: (served: ServedRequest) => void;
}
