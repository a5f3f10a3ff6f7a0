/*
 * An endpoint as programs write it and as the contract has it. The comment on a field is its documentation: editors show it,
 * and the reference pages are generated from it. Published declarations rest on these types, so nothing here may import a
 * library.
 */

/** A reference to another object of the service, such as a reserved domain. `uri` can be empty or missing. */
export interface Ref {
  /** The identifier of the referenced object. */
  id: string;
  /** The URI of the referenced object in the API. */
  uri?: string | undefined;
  [more: string]: unknown;
}

/** An endpoint of any type, as the service describes it. Fields that do not apply to the endpoint's type are missing. */
export interface Endpoint {
  /** The endpoint's identifier, `ep_…`. */
  id: string;
  /** The identifier of the region that the endpoint belongs to. */
  region?: string | undefined;
  /** When the endpoint was created, RFC 3339. */
  createdAt?: string | undefined;
  /** When the endpoint was last changed, RFC 3339. */
  updatedAt?: string | undefined;
  /** The endpoint's URL without its port. The public service recommends `url` instead. */
  publicUrl?: string | undefined;
  /** The protocol that the endpoint serves: `http`, `https`, `tcp` or `tls`. */
  proto?: string | undefined;
  /** The scheme of the endpoint's URL, if the service returns it. */
  scheme?: string | undefined;
  /** The address in the form `hostname:port`, always with the port. The service plans to deprecate it. */
  hostport?: string | undefined;
  /** The host of the endpoint's URL, if the service returns it. */
  host?: string | undefined;
  /** The port of the endpoint's URL, if the service returns it. */
  port?: number | undefined;
  /** The type of the endpoint: `cloud`, `ephemeral` (an agent's tunnel) or `edge`. */
  type?: string | undefined;
  /** The user's own data on the endpoint, as text. */
  metadata?: string | undefined;
  /** The user's description of the endpoint. */
  description?: string | undefined;
  /** The reserved domain that the endpoint's host belongs to, `rd_…`. */
  domain?: Ref | undefined;
  /** The reserved TCP address of the endpoint. */
  tcpAddr?: Ref | undefined;
  /** The tunnel that serves an ephemeral endpoint, `tn_…`. */
  tunnel?: Ref | undefined;
  /** The edge that serves an edge endpoint. For a cloud endpoint, it is documented only for a read by id. */
  edge?: Ref | undefined;
  /** The local address to which the agent of an ephemeral endpoint forwards. */
  upstreamUrl?: string | undefined;
  /** The protocol with which the agent of an ephemeral endpoint forwards. */
  upstreamProto?: string | undefined;
  /** The endpoint's URL. Edge endpoints have only `publicUrl`. */
  url?: string | undefined;
  /** The bot or user that owns the endpoint, `usr_…` for a user. */
  principal?: Ref | undefined;
  /** The owner of the endpoint in an older form, which the service plans to deprecate. Use `principal` instead. */
  principalId?: Ref | undefined;
  /** The rules for traffic, as text: the traffic policy of the endpoint. */
  trafficPolicy?: string | undefined;
  /** Where the endpoint can be reached from, such as `public` or `internal`. */
  bindings?: string[] | undefined;
  /** Whether other endpoints may share the endpoint's URL and its traffic. */
  poolingEnabled?: boolean | undefined;
  /** The session of the agent that serves an ephemeral endpoint, `ts_…`. */
  tunnelSession?: Ref | undefined;
  /** The endpoint's URI in the API. The public service documents it for cloud endpoints only. */
  uri?: string | undefined;
  /** The name that an agent gave the endpoint. */
  name?: string | undefined;
}

/** Fields that every cloud endpoint has (contract, rules of the endpoint's fields). */
export const alwaysPresent = [
  "type",
  "url",
  "publicUrl",
  "proto",
  "hostport",
  "uri",
  "bindings",
  "createdAt",
  "updatedAt",
] as const satisfies (keyof Endpoint)[];

/** The bindings that the public service documents with its error 15005. `pulumi import` prints them by these names. */
export const Binding = { Public: "public", Internal: "internal", Kubernetes: "kubernetes" } as const;

/** The name of a binding. Editors offer the known ones, and any other text is accepted: the service may add some. */
type BindingName = (typeof Binding)[keyof typeof Binding] | (string & {});

/** The types of endpoints that the contract names. */
export const EndpointType = { Ephemeral: "ephemeral", Edge: "edge", Cloud: "cloud" } as const;

/** The values of the setting `policyWarnings`. */
export const PolicyWarnings = { On: "on", Error: "error", Off: "off" } as const;

/** What a program may write for a cloud endpoint. */
export interface CloudEndpointInputs {
  /**
   * The address that the endpoint serves: a scheme (`https`, `http`, `tls` or `tcp`), a host, and a port if it is not
   * the scheme's default: `https://shop.example.com`, `tcp://1.tcp.example.com:12345`, `https://*.example.com`. Letter
   * case, a default port and a trailing slash do not matter. Another host or port is sent as an update, which keeps the id.
   * Another scheme replaces the endpoint.
   */
  url: string;
  /**
   * The rules for traffic: an object, or text with JSON or YAML. It is compared as data: key order, spaces and YAML
   * comments are no change. YAML text has at most 50,000 characters and 100 uses of an anchor, JSON and objects have at most
   * 1,000,000 characters. The public service requires a policy with an action that answers. Once given, a policy can be
   * changed but not removed.
   */
  trafficPolicy?: object | string | undefined;
  /** A description of at most 255 characters. If the program removes it, an update sends the empty text. Default: none. */
  description?: string | undefined;
  /**
   * Data of your own, an object or text, at most 4,096 characters as compact JSON. Text with JSON is kept as data. If the program removes it, an update sends the empty text. Default: none.
   */
  metadata?: object | string | undefined;
  /**
   * Where the endpoint can be reached from. The public service documents `public`, `internal` and `kubernetes`. Order does
   * not matter. Default: the service decides by the URL. If the program gives none, a later edit by hand is drift. If the
   * program removes them, the service keeps the current ones.
   */
  bindings?: BindingName[] | undefined;
  /**
   * Whether other endpoints may share the endpoint's URL and its traffic. It is sent only if given, or to undo an edit by hand.
   * The service may refuse or ignore a later change. Default: the service decides, as documented `false`.
   */
  poolingEnabled?: boolean | undefined;
  /**
   * Take over the existing cloud endpoint with this id (`ep_…`) instead of creating one. Only fields that differ are changed.
   * Remove it after the first `up`: it refuses a forced replacement, and a deleted endpoint cannot be adopted again. Default: create
   * an endpoint.
   */
  adopt?: string | undefined;
}

/** The endpoint to read: by id or by URL, exactly one of the two. */
export interface EndpointQuery {
  /** The identifier of the endpoint to read, `ep_…`. Give either `id` or `url`. This takes one request. */
  id?: string | undefined;
  /**
   * The URL of the endpoint to read, in any spelling, instead of `id`. Edges have no `url` and are matched by their `publicUrl`.
   * This takes one request if the service filters lists, as the public one documents. Otherwise it reads the whole list, which other look-ups
   * of the next minute share: one request for each 100 endpoints of the account.
   */
  url?: string | undefined;
}

/** Filters for endpoints. All given filters must match; without a filter, all endpoints match. */
export interface EndpointsFilter {
  /** Only endpoints of these types: `ephemeral`, `edge`, `cloud`. */
  types?: string[] | undefined;
  /** Only endpoints of the region with this identifier. */
  region?: string | undefined;
  /**
   * Only endpoints with this URL, in which `*` matches any text: `https://*.example.com`. `\*` is the star of a wildcard
   * endpoint: `https://\*.example.com`, in a string of TypeScript `"https://\\*.example.com"`. Letter case does not matter.
   * Edges have no `url` and are matched by their `publicUrl`.
   */
  urlPattern?: string | undefined;
  /** Only endpoints to which an agent gave this name. */
  name?: string | undefined;
  /** Only endpoints that can be reached from there: `public`, `internal` or `kubernetes`. */
  binding?: string | undefined;
  /** Only endpoints with metadata equal to this. If both are JSON, they are compared as data. */
  metadata?: object | string | undefined;
}

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S;

/** An endpoint on the wire: the contract's names, without the fields that do not apply. */
export type WireEndpoint = {
  [K in keyof Endpoint as Snake<K>]: Endpoint[K];
};

/** The body of a create and, without `type`, of an update. */
export type WireChange = Partial<WireEndpoint>;
