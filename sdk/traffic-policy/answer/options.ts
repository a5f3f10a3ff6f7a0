/* What a test gives of a request. */

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
