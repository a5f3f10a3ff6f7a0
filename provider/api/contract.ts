import type { JsonObject } from "./json";

/*
 * An endpoint as programs write it and as the contract has it. The comment on a field is its documentation: editors show it,
 * and the reference pages are generated from it. Published declarations rest on these types, so nothing here may import a
 * library.
 */

/** A reference to another object of the service. `uri` can be empty or missing. */
export interface Ref {
  /** The object's identifier. */
  id: string;
  /** The object's URI in the API. */
  uri?: string | undefined;
  [more: string]: unknown;
}

/**
 * An endpoint as the service describes it, with the names of this package; the API uses snake_case. Fields that do not
 * apply to an endpoint's type are missing.
 */
export interface Endpoint {
  /** The endpoint's identifier, `ep_…`. */
  id: string;
  /** The endpoint's region. */
  region?: string | undefined;
  /** Creation time, RFC 3339. */
  createdAt?: string | undefined;
  /** Time of the last change, RFC 3339. */
  updatedAt?: string | undefined;
  /** The URL without its port. The public service recommends `url` instead. */
  publicUrl?: string | undefined;
  /** The protocol served: `http`, `https`, `tcp` or `tls`. */
  proto?: string | undefined;
  /** The URL's scheme, if the service returns it. */
  scheme?: string | undefined;
  /** `hostname:port`, always with the port. The service plans to deprecate it. */
  hostport?: string | undefined;
  /** The URL's host, if the service returns it. */
  host?: string | undefined;
  /** The URL's port, if the service returns it. */
  port?: number | undefined;
  /** `ephemeral` (an agent's tunnel), `edge` or `cloud`. */
  type?: string | undefined;
  /** The user's own data, as text. */
  metadata?: string | undefined;
  /** The user's description. */
  description?: string | undefined;
  /** The reserved domain, `rd_…`. */
  domain?: Ref | undefined;
  /** The reserved TCP address. */
  tcpAddr?: Ref | undefined;
  /** The tunnel that serves an ephemeral endpoint, `tn_…`. */
  tunnel?: Ref | undefined;
  /** The edge that serves an edge endpoint. For a cloud endpoint, the public service returns it only in a read by id. */
  edge?: Ref | undefined;
  /** The local address to which an agent's tunnel forwards. */
  upstreamUrl?: string | undefined;
  /** The protocol with which the agent forwards. Servers name it `upstream_proto` or `upstream_protocol`. */
  upstreamProto?: string | undefined;
  /** The endpoint's URL. Edge endpoints have only `publicUrl`. */
  url?: string | undefined;
  /** The bot or user that owns the endpoint, `usr_…` for a user. */
  principal?: Ref | undefined;
  /** The owner in an older form, which the service plans to deprecate. Servers return a reference or the bare id. */
  principalId?: Ref | undefined;
  /** The traffic policy, as text. */
  trafficPolicy?: string | undefined;
  /** Where the endpoint can be reached from. */
  bindings?: string[] | undefined;
  /** Whether endpoints may share the URL. */
  poolingEnabled?: boolean | undefined;
  /** The session of the agent that serves an ephemeral endpoint, `ts_…`. */
  tunnelSession?: Ref | undefined;
  /** The endpoint's URI in the API. On the public service, only cloud endpoints have one. */
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

/** What a program may write for a cloud endpoint. */
export interface CloudEndpointWritten {
  /**
   * The address that the endpoint serves: a scheme (`https`, `http`, `tls` or `tcp`), a host, and a port if it is not
   * the scheme's default: `https://shop.example.com`, `tcp://1.tcp.example.com:12345`, `https://*.example.com`. Letter
   * case, a default port and a trailing slash do not matter. Paths, queries and credentials are not allowed. A change
   * with the same scheme updates the endpoint in place; another scheme replaces it.
   */
  url: string;

  /**
   * The rules for traffic: an object, or text with JSON or YAML. It is compared as data: key order, spaces and YAML
   * comments are no change, but the order of a list is. YAML text has at most 50,000 characters and 100 uses of an anchor,
   * JSON and objects have at most 1,000,000 characters. The contract makes it optional; the public service requires it,
   * with an action that answers. Once given, it can be changed but not removed.
   */
  trafficPolicy?: object | string | undefined;

  /** A description of at most 255 characters. If the program removes it, it is cleared on the service. Default: none. */
  description?: string | undefined;

  /**
   * Data of your own, an object or text, at most 4,096 characters as compact JSON. Text that contains a JSON object or
   * list is kept as data, other text as text. If the program removes it, it is cleared on the service. Default: none.
   */
  metadata?: object | string | undefined;

  /**
   * Where the endpoint can be reached from. The public service knows `public`, `internal` and `kubernetes`. Order does
   * not matter. Default: the service decides by the URL. If the program gives none, a later edit by hand is drift. If the
   * program removes them, the service keeps the current ones.
   */
  bindings?: string[] | undefined;

  /**
   * Whether other endpoints may share this URL and its traffic. It is sent only if given, or to undo an edit by hand.
   * The service may refuse to change it later. Default: `false`, the service's default.
   */
  poolingEnabled?: boolean | undefined;

  /**
   * Take over an existing endpoint instead of creating one: `true` for the cloud endpoint with this URL, or its id
   * (`ep_…`). Only fields that differ are changed. It has no effect after the first `up` and can then be removed.
   * Default: `false`.
   */
  adopt?: boolean | string | undefined;

  /**
   * The stack that `adopt` takes the endpoint from, as the refusal names it: `shop/prod (platform-team/prod)`. Only an
   * endpoint with the mark of another stack (`endpoints:mark`) needs it. It has no effect after the first `up` and can then
   * be removed. Default: none.
   */
  adoptFrom?: string | undefined;
}

/** The endpoint to read: by id or by URL, exactly one of the two. */
export interface EndpointQuery {
  /** The endpoint's identifier, `ep_…`. This takes one request. */
  id?: string | undefined;

  /**
   * The endpoint's URL, in any spelling. Edges have no `url` and are matched by their `publicUrl`. This takes one request
   * if the service filters lists, as the public service does. Otherwise it reads the whole list, which other look-ups of the
   * next minute share: one request for each 100 endpoints of the account.
   */
  url?: string | undefined;
}

/** Filters for endpoints. All given filters must match; without a filter, all endpoints match. */
export interface EndpointsFilter {
  /** One of these types: `ephemeral`, `edge`, `cloud`. */
  types?: string[] | undefined;

  /** This region. */
  region?: string | undefined;

  /**
   * This URL, in which `*` matches any text: `https://*.example.com`. Letter case does not matter. Edges have no `url` and
   * are matched by their `publicUrl`.
   */
  urlPattern?: string | undefined;

  /** This name, which an agent gave the endpoint. */
  name?: string | undefined;

  /** Reachable from there: `public`, `internal`, `kubernetes`. */
  binding?: string | undefined;

  /** Metadata equal to this. If both are JSON, they are compared as data. */
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

/** The resource that an endpoint was created for. */
export interface Owner {
  /** The value of `endpoints:mark`. */
  namespace: string;
  /** The resource's URN, with its type and those of the components that it is in. */
  urn: string;
}

/** The mark in an endpoint's metadata. */
export interface Mark extends Owner {
  /** Distinguishes one create or adoption from every other. */
  nonce: string;
  /** The endpoint's creation time by the service's clock, RFC 3339. A create gives the time when it is sent. */
  time: string;
}

/** An endpoint with the unknown fields of the reply, and the mark from its metadata. */
export type LiveEndpoint = Endpoint & JsonObject & { createdFor?: Mark };
