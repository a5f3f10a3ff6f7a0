/*
 * Everything that a program writes for endpoints. The comment on a field is its documentation: editors show it, and the
 * reference pages are generated from it. Published declarations rest on these types, so nothing here may import a library.
 */

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
